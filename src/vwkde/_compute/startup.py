"""When compiled loops are worth their start: a process that needs none does not load the compiler."""

_FEW_PAIRS = 2**20
"""Pairs of rows up to which one exponential each by NumPy is about as fast as a compiled loop."""


def worth_compiling(pairs: int, exponentials: int = 1) -> bool:
    """Return whether work that costs so many exponentials for each pair of rows is for compiled loops, not for NumPy.

    It depends on nothing else, so that equal calls give equal results, whatever the process has loaded before.
    """
    return pairs * exponentials > _FEW_PAIRS
