"""Warnings and errors of this package, each of its own class so that it can be caught or silenced alone."""

__all__ = ["BiasWarning", "DegenerateDataWarning", "DisjointSupportError", "FewImagesWarning", "OverlapWarning"]


class DegenerateDataWarning(UserWarning):
    """Columns or directions carry no variation; the warning says what was done about them."""


class BiasWarning(UserWarning):
    """An estimate shows that bias is left: a divergence came out clearly negative."""


class OverlapWarning(UserWarning):
    """The samples overlap too little for the ratio to be known where it matters."""


class DisjointSupportError(ValueError):
    """The samples do not meet, so the true ratio is infinite or zero everywhere and there is nothing to estimate."""


class FewImagesWarning(UserWarning):
    """There are too few good images for the rate of false rejects that was asked for."""
