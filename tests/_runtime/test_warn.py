"""Warnings point at the line that called the package, whatever calls are in between."""

import inspect
import threading

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.model_selection import cross_val_score

import vwkde
from support.together import together
from vwkde import BiasWarning, DegenerateDataWarning, DensityRatio, OverlapWarning
from vwkde._compute import parallel
from vwkde._runtime.warn import warn, without
from vwkde.exceptions import FewImagesWarning

RANDOM = np.random.default_rng(0)
P, Q = RANDOM.normal(0, 1, (60, 3)), RANDOM.normal(0.5, 1, (70, 3))
FLATTEN = np.array([1, 1, 0])
"""Makes the last column constant."""


def constant_column():
    return vwkde.kl_divergence(P * FLATTEN, Q * FLATTEN)


def copied_column():
    return vwkde.kl_divergence(P[:, [0, 1, 1]], Q[:, [0, 1, 1]])


def few_rows():
    return vwkde.log_density_ratio(RANDOM.normal(size=(25, 40)), RANDOM.normal(size=(25, 40)), at=np.zeros((1, 40)))


def flat_in_one_sample():
    return DensityRatio().fit(P * FLATTEN, Q)


def too_few_for_a_guide():
    return DensityRatio(guide="gaussian").fit(P[:7], Q[:7])


def far_apart():
    return vwkde.divergence(P, Q + 9, "kl")


def rows_that_both_share():
    shared = RANDOM.normal(size=(300, 10))
    return vwkde.kl_divergence(shared, shared, guide=None)


def through_an_estimator():
    return DensityRatio(guide=None).fit(P, Q + 9).divergence("kl")


def through_scikit_learn():
    X = np.concatenate([P, Q]) * FLATTEN
    labels = np.repeat([0, 1], [len(P), len(Q)])
    return cross_val_score(vwkde.RatioClassifier(ratio=DensityRatio(guide="gaussian")), X, labels, cv=2)


def few_images():
    pytest.importorskip("PIL")
    from vwkde.inspection import SurfaceInspector, make_surfaces

    return SurfaceInspector().fit(list(make_surfaces("woven", 4, 0, 128).images))


@pytest.mark.parametrize(
    ("call", "category"),
    [
        (constant_column, DegenerateDataWarning),
        (copied_column, DegenerateDataWarning),
        (few_rows, DegenerateDataWarning),
        (flat_in_one_sample, DegenerateDataWarning),
        (too_few_for_a_guide, DegenerateDataWarning),
        (through_scikit_learn, DegenerateDataWarning),
        (far_apart, OverlapWarning),
        (through_an_estimator, OverlapWarning),
        (rows_that_both_share, BiasWarning),
        (few_images, FewImagesWarning),
    ],
)
def test_a_warning_points_at_the_line_that_called(call, category):
    lines, first = inspect.getsourcelines(call)
    with pytest.warns() as caught:
        call()
    assert {warning.category for warning in caught} == {category}
    assert {warning.filename for warning in caught} == {__file__}
    assert {warning.lineno for warning in caught} == {first + len(lines) - 1}


def test_packages_that_call_back_are_passed_over():
    """An optimiser that this package runs calls a function of this package."""
    inside = {"__name__": "vwkde.inside", "warn": warn, "minimize_scalar": minimize_scalar}
    exec("def find():\n    minimize_scalar(lambda x: warn('why', UserWarning) or x**2)", inside)
    with pytest.warns(UserWarning, match="why") as caught:
        inside["find"]()
    assert {warning.filename for warning in caught} == {__file__}


def test_threads_of_the_package_warn_too():
    caught = []
    both = threading.Barrier(2)

    def work(_):
        both.wait(timeout=10)  # so that a thread of the pool has one of the two
        try:
            warn("why", UserWarning)
        except UserWarning as error:  # warnings are errors in these tests
            caught.append((str(error), threading.current_thread().name))

    with parallel.at_most(2):
        parallel.run(work, [0, 1])
    assert [message for message, _ in caught] == ["why", "why"]
    assert any(name.startswith("vwkde") for _, name in caught)


def test_code_run_from_text_gets_its_warnings():
    """Its globals have no `__name__`, where `exec` is given a plain dictionary."""
    with pytest.warns(OverlapWarning, match="extrapolation"):
        exec("kl_divergence(P, Q)", {"kl_divergence": vwkde.kl_divergence, "P": P, "Q": Q + 9})


def test_a_thread_suppresses_its_own_warnings_and_those_of_its_blocks_only():
    suppressing, done = threading.Event(), threading.Event()

    def suppress():
        with without(DegenerateDataWarning), parallel.at_most(2):
            suppressing.set()
            done.wait(60)
            parallel.run(lambda _: warn("constant", DegenerateDataWarning), range(4))
            with pytest.raises(OverlapWarning):
                warn("apart", OverlapWarning)
        with pytest.raises(DegenerateDataWarning):
            warn("constant", DegenerateDataWarning)

    def warn_meanwhile():
        suppressing.wait(60)
        try:
            with pytest.raises(DegenerateDataWarning):
                warn("constant", DegenerateDataWarning)
        finally:
            done.set()

    together(suppress, warn_meanwhile)
