"""The public names are exactly those meant: of the package, and of each of its public modules."""

import pkgutil
from importlib import import_module
from types import FunctionType

import pytest

import vwkde

PUBLIC = [
    "BalanceTable",
    "BiasWarning",
    "DegenerateDataWarning",
    "DensityRatio",
    "DisjointSupportError",
    "DivergenceDisplay",
    "DriftReference",
    "DriftResult",
    "Estimate",
    "ImportanceWeights",
    "IndependenceResult",
    "InformationMatrix",
    "LaggedInformation",
    "LogRatioDisplay",
    "OverlapDisplay",
    "OverlapWarning",
    "RatioClassifier",
    "ReweightedEstimator",
    "TwoSampleResult",
    "conditional_mutual_information",
    "divergence",
    "drift",
    "importance_weights",
    "independence_test",
    "kl_divergence",
    "log_density_ratio",
    "methods",
    "mutual_information",
    "mutual_information_by_lag",
    "mutual_information_matrix",
    "two_sample_test",
    "weighted_scorer",
]
LIBRARY = [
    "catalogue",
    "classifier",
    "datasets",
    "displays",
    "divergences",
    "exceptions",
    "importance",
    "information",
    "monitoring",
    "ratio",
    "results",
    "two_sample",
    "weighting",
]
PROGRAMS = ["baselines", "bench", "cli", "inspection", "reproduce"]
"""Packages with a public name whose modules are not part of the library's interface."""


def defined_in(module):
    """Return the functions and classes without underscore that a module, or a package's own modules, define."""
    named = {name: getattr(module, name) for name in dir(module) if not name.startswith("_")}
    return {
        name
        for name, value in named.items()
        if isinstance(value, type | FunctionType) and f"{value.__module__}.".startswith(f"{module.__name__}.")
    }


def test_the_package_has_exactly_these_names():
    assert vwkde.__all__ == PUBLIC
    assert dir(vwkde) == sorted([*PUBLIC, "__version__"])
    exec("from vwkde import *", names := {})
    assert sorted(names.keys() - {"__builtins__"}) == PUBLIC


def test_the_package_has_exactly_these_modules():
    modules = [module.name for module in pkgutil.iter_modules(vwkde.__path__)]
    assert sorted(name for name in modules if not name.startswith("_")) == sorted(LIBRARY + PROGRAMS)


def test_names_that_do_not_exist_are_missing():
    with pytest.raises(AttributeError, match="module 'vwkde' has no attribute 'kl_divergnce'"):
        vwkde.kl_divergnce  # noqa: B018


@pytest.mark.parametrize("name", PUBLIC)
def test_each_name_comes_from_a_public_module(name):
    value = getattr(vwkde, name)
    assert value.__name__ == name
    assert [module for module in LIBRARY if name in import_module(f"vwkde.{module}").__all__] == [
        value.__module__.split(".")[1]
    ]


@pytest.mark.parametrize("name", LIBRARY)
def test_the_names_of_a_module_are_exactly_those_it_defines(name):
    module = import_module(f"vwkde.{name}")
    constants = {each for each in module.__all__ if each.isupper() and hasattr(module, each)}
    assert sorted(module.__all__) == sorted(constants | defined_in(module))
