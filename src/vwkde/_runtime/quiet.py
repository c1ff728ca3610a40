"""Contexts that suppress warnings which tell users nothing new."""

from sklearn.exceptions import ConvergenceWarning

from vwkde._runtime.filters import ignoring

without_convergence_warnings = ignoring(category=ConvergenceWarning)
"""Suppress scikit-learn's warning that an optimiser stopped early: such candidates are compared as they are."""
