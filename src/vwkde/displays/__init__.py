"""Pictures of a fitted ratio and of its answers, in the manner of scikit-learn's displays.

Each class keeps the data of one picture, and `plot` draws it, as often as wanted and on any axes.
"""

from vwkde.displays._divergence import DivergenceDisplay
from vwkde.displays._log_ratio import LogRatioDisplay
from vwkde.displays._overlap import OverlapDisplay

__all__ = ["DivergenceDisplay", "LogRatioDisplay", "OverlapDisplay"]
