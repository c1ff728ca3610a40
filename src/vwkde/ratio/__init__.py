"""The density ratio of two samples as one fitted object, from which all other answers follow."""

from vwkde.ratio._density_ratio import DensityRatio

__all__ = ["DensityRatio"]
