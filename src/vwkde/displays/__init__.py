"""Pictures of a fitted ratio and its answers, in the style of scikit-learn's displays.

Each class keeps the data of one picture; `plot` draws it, any number of times and on any axes.
"""

from vwkde.displays._divergence import DivergenceDisplay
from vwkde.displays._log_ratio import LogRatioDisplay
from vwkde.displays._overlap import OverlapDisplay

__all__ = ["DivergenceDisplay", "LogRatioDisplay", "OverlapDisplay"]
