"""Random two-sample problems whose log ratio is known at every row, for `zoo.py`."""

from zoo_problems.problem import Problem, problem

__all__ = ["Problem", "problem"]
