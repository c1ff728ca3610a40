"""The density ratio of two samples as one fitted object, from which all other answers follow."""

from typing import TYPE_CHECKING

from vwkde._runtime.exports import lazy_names

if TYPE_CHECKING:
    from vwkde.ratio._density_ratio import DensityRatio

__all__ = ["DensityRatio"]

__getattr__, __dir__ = lazy_names(__name__, {"DensityRatio": "_density_ratio"})
