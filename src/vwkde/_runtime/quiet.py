"""Warnings of scikit-learn that tell users nothing."""

from sklearn.exceptions import ConvergenceWarning

from vwkde._runtime.filters import ignoring

without_convergence_warnings = ignoring(category=ConvergenceWarning)
"""Hold back the warning that an optimiser stopped early: candidates that did are judged as they are."""
