"""The estimators that `method=` names, each with its reference."""

from typing import Any

__all__ = ["is_baseline", "methods", "parameters_of", "parameters_with"]

_OWN: dict[str, tuple[str, dict[str, Any]]] = {
    "vwkde-mb": (
        "Variationally weighted kernel density ratio, Gaussian scores (Yoon, Park, Yun, Kim and Noh, NeurIPS 2023)",
        {"guide": None, "weighting": "variational", "derivatives": "gaussian"},
    ),
    "vwkde-mf": (
        "Variationally weighted kernel density ratio, scores and weight by networks (the same paper, NeurIPS 2023)",
        {"guide": None, "weighting": "network", "derivatives": "network", "subspace": True},
    ),
    "kde": (
        "Ratio of two plain kernel density estimates, leave-one-out (Rosenblatt 1956, Parzen 1962)",
        {"guide": None, "weighting": "uniform", "bandwidth": "likelihood"},
    ),
}
"""Forms of `DensityRatio`, each with its parameters."""
_STANDS_FOR = ("guide", "weighting", "derivatives")
"""Parameters that make a form what its name says; others of its parameters are only its defaults."""

_BASELINES = {
    "nn": "Distances to the k-th nearest neighbours, k=1 (Wang, Kulkarni and Verdú, IEEE Trans. Inf. Theory 2009)",
    "nnwang": "Nearest neighbours within one radius for both samples, bias-reduced (the same paper, 2009)",
    "nng": "Nearest neighbours under a local metric that cancels the leading bias (Noh and others, Neural Comp. 2018)",
    "nngarcia": "Risks of nearest-neighbour classifiers over all priors (García-García and others, ICML 2011)",
    "kliep": "Ratio as a kernel expansion of the largest likelihood (Sugiyama and others, AISM 2008)",
    "ulsif": "Ratio as a kernel expansion by least squares (Kanamori, Hido and Sugiyama, JMLR 2009)",
    "rulsif": "Ratio to a mixture of both densities by least squares (Yamada and others, Neural Comp. 2013)",
    "mine": "Donsker–Varadhan bound maximised by a network (Belghazi and others, ICML 2018)",
    "ensemble": "Weighted ensemble of plain kernel estimates (Moon, Sricharan, Greenewald and Hero, Entropy 2018)",
    "vonmises": "Plain kernel estimates with the influence functions' correction (Kandasamy and others, NIPS 2015)",
    "sd-kde": "Kernel estimates on points moved along the score (Epstein and others, 2025)",
    "laplace-kde": "Kernel estimates with a kernel of fourth order (Wand and Schucany, Can. J. Statistics 1990)",
    "classifier": "Cross-fitted log odds of a boosted classifier (Bickel, Brückner and Scheffer, JMLR 2009)",
}


def methods() -> dict[str, str]:
    """Return the names that `method=` accepts.

    Returns
    -------
    dict of str to str
        One line per method, with its reference.

    Examples
    --------
    >>> import vwkde
    >>> print(vwkde.methods()["ulsif"])
    Ratio as a kernel expansion by least squares (Kanamori, Hido and Sugiyama, JMLR 2009)
    """
    return {name: description for name, (description, _) in _OWN.items()} | _BASELINES


def is_baseline(method: str | None) -> bool:
    """Return whether a method is a baseline, not a form of `DensityRatio`.

    Parameters
    ----------
    method : str or None
        The name of a method, or None for the default.

    Returns
    -------
    bool
        True for a baseline.

    Examples
    --------
    >>> from vwkde.catalogue import is_baseline
    >>> is_baseline("nn"), is_baseline("kde")
    (True, False)
    """
    return method in _BASELINES


def parameters_of(method: str | None) -> dict[str, Any]:
    """Return the parameters of `DensityRatio` that a method stands for.

    Parameters
    ----------
    method : str or None
        The name of a form of `DensityRatio`, or None for the default.

    Returns
    -------
    dict
        The parameters that differ from the defaults.

    Raises
    ------
    ValueError
        If the method is unknown, or a baseline.

    Examples
    --------
    >>> from vwkde.catalogue import parameters_of
    >>> parameters_of("vwkde-mb")
    {'guide': None, 'weighting': 'variational', 'derivatives': 'gaussian'}
    """
    if method is None:
        return {}
    if method in _BASELINES:
        raise ValueError(f"Only {list(_OWN)} can be used here. Got method={method!r} instead.")
    if method not in _OWN:
        raise ValueError(f"The 'method' parameter must be one of {list(methods())}. Got {method!r} instead.")
    return _OWN[method][1]


def parameters_with(method: str | None, given: dict[str, Any], owner: str) -> dict[str, Any]:
    """Return the parameters of `DensityRatio` that a method stands for, with others that were given.

    Parameters
    ----------
    method : str or None
        The name of a form of `DensityRatio`, or None for the default.
    given : dict
        Parameters of `DensityRatio`, which replace those of the method.
    owner : str
        The function that was called with them, which errors name.

    Returns
    -------
    dict
        The parameters that differ from the defaults.

    Raises
    ------
    ValueError
        If the method is unknown, or a baseline, or a parameter would make it another method than its name says.

    Examples
    --------
    >>> from vwkde.catalogue import parameters_with
    >>> parameters_with("kde", {"bandwidth": 0.5}, "kl_divergence")
    {'guide': None, 'weighting': 'uniform', 'bandwidth': 0.5}
    """
    own = parameters_of(method)
    for name in _STANDS_FOR:
        if name in own and name in given and not _is_same(given[name], own[name]):
            raise ValueError(
                f"The {name!r} parameter of {owner} must be {own[name]!r} with method={method!r}, which stands for it. "
                f"Got {given[name]!r} instead; omit it, or omit method= and give the parameters of DensityRatio."
            )
    return own | given


def _is_same(given: Any, own: str | None) -> bool:
    """Return whether a parameter, of any kind, is a name or None."""
    return given is own or (isinstance(given, str) and given == own)
