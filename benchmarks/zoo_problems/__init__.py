"""Random two-sample problems whose log ratio is known at every row, for `zoo.py`."""

from zoo_problems.definition import Problem
from zoo_problems.making import problem

__all__ = ["Problem", "problem"]
