"""When compiled loops are worth their start: a process that needs none does not load the compiler."""

_FEW_PAIRS = 2**18
"""Pairs of rows up to which NumPy is about as fast as compiled loops: two samples of five hundred rows."""


def worth_compiling(pairs: int) -> bool:
    """Return whether work on this many pairs of rows is for compiled loops, not for NumPy.

    It depends on nothing else, so that equal calls give equal results, whatever the process has loaded before.
    """
    return pairs > _FEW_PAIRS
