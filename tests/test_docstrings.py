"""Docstrings of public names are complete: numpydoc compares each with its signature, and doctest runs the examples."""

import doctest
import inspect
import pkgutil
from importlib import import_module
from types import FunctionType

import matplotlib.pyplot as plt
import pytest
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import validate

from vwkde._runtime.lazy import lazy

MODULES = [
    "catalogue",
    "classifier",
    "datasets",
    "displays",
    "divergences",
    "information",
    "monitoring",
    "ratio",
    "results",
    "two_sample",
]
CHECKS = {
    "GL06": "sections are those of numpydoc",
    "GL07": "in its order",
    "GL08": "there is a docstring",
    "SS03": "the summary ends with a period",
    "SS06": "and is one line",
    "PR01": "every parameter is described",
    "PR02": "and nothing else",
    "PR03": "in the order of the signature",
    "PR04": "with a type",
    "PR07": "and a description",
    "PR09": "that ends with a period",
    "RT01": "what is returned is described",
    "RT03": "with more than its type",
    "RT05": "by sentences",
}
"""The checks of numpydoc that count: its page on validation has all of them."""


def is_protocol(value):
    return getattr(value, "_is_protocol", False)


def members(owner):
    """Return the public methods and properties of a class that this package defines, by name."""
    own = [vars(cls) for cls in reversed(owner.__mro__) if cls.__module__.startswith("vwkde.")]
    kinds = FunctionType | classmethod | property | lazy
    return {name: value for each in own for name, value in each.items() if name[0] != "_" and isinstance(value, kinds)}


def public():
    """Return all public functions, classes, methods and properties by name."""
    named = {}
    for module in map(import_module, (f"vwkde.{name}" for name in MODULES)):
        for name in module.__all__:
            value = getattr(module, name)
            named[name] = value
            if inspect.isclass(value):
                named |= {f"{name}.{member}": part for member, part in members(value).items()}
    return named


PUBLIC = public()


def faults(value):
    """Return what numpydoc misses in a docstring; it does not ask by itself what a property returns."""
    value = value.__func__ if isinstance(value, classmethod) else value
    doc = get_doc_object(value)
    checks = CHECKS.keys() - ({"PR01"} if is_protocol(value) else set())  # nobody calls a protocol
    missing = [text for code, text in validate(doc)["errors"] if code in checks]
    if isinstance(value, property | lazy) and not doc["Returns"]:
        missing.append("No Returns section found")
    return missing


@pytest.mark.parametrize("name", PUBLIC)
def test_docstrings_describe_parameters_and_results(name):
    assert faults(PUBLIC[name]) == []


@pytest.mark.parametrize("name", [name for name in PUBLIC if "." not in name and not is_protocol(PUBLIC[name])])
def test_functions_and_classes_have_examples(name):
    assert get_doc_object(PUBLIC[name])["Examples"]


def test_the_names_are_more_than_those_of_the_modules():
    assert {"DensityRatio.fit", "DensityRatio.diagnostics_", "MixturePair.kl", "OverlapDisplay.plot"} < PUBLIC.keys()
    assert "RatioClassifier.score" not in PUBLIC  # which is scikit-learn's


def test_what_is_missing_is_found():
    def scaled(x, *, by, **options):
        """Return a number, scaled.

        Parameters
        ----------
        x : float
            The number.
        scale : float
            A parameter that does not exist.
        """
        return x * by, options

    class Length:
        @property
        def metres(self):
            """The length."""
            return 1.0

    missing = " ".join(faults(scaled))
    for fault in ("'by'", "'**options'", "Unknown parameters {'scale'}", "No Returns section found"):
        assert fault in missing
    assert faults(Length.metres) == ["No Returns section found"]


def all_modules():
    """Return the names of the public modules, and of the modules in those that are packages."""
    for module in map(import_module, (f"vwkde.{name}" for name in MODULES)):
        yield module.__name__
        inside = pkgutil.iter_modules(getattr(module, "__path__", []), f"{module.__name__}.")
        yield from (each.name for each in inside)


@pytest.mark.parametrize("module", list(all_modules()))
def test_examples_run(module):
    assert doctest.testmod(import_module(module)).failed == 0
    plt.close("all")
