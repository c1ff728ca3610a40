"""Growth with the rows: `vwkde bench growth` measures time, memory and error of estimators on data of several kinds."""

from vwkde.bench.growth.measured import Limits, Run, Task
from vwkde.bench.growth.study import QUICK, Plan, run_growth

__all__ = ["QUICK", "Limits", "Plan", "Run", "Task", "run_growth"]
