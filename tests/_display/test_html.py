"""What notebooks show: numbers, pictures and details, and nothing that a browser takes for code."""

from html.parser import HTMLParser

import numpy as np
import pytest
import sklearn
from sklearn.pipeline import make_pipeline

import vwkde
from vwkde import Estimate
from vwkde._display.html import card

RANDOM = np.random.default_rng(0)
P, Q = RANDOM.normal(0, 1, (80, 2)), RANDOM.normal(0.5, 1, (90, 2))


class Balanced(HTMLParser):
    """Knows which elements are open, and what text there is."""

    def __init__(self, html):
        super().__init__()
        self.open, self.words = [], []
        self.feed(html)

    def handle_starttag(self, tag, _):
        if tag not in ("img", "input", "br", "meta", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def text(html):
    """Return the text of a page whose elements are all closed."""
    page = Balanced(html)
    assert page.open == []
    return " ".join(page.words)


def html(thing):
    """Return what a notebook shows of a thing; for an estimator, what it adds to scikit-learn's diagram."""
    if not hasattr(thing, "_repr_mimebundle_"):
        return thing._repr_html_()
    for shown in (thing._repr_mimebundle_()["text/html"], thing._repr_html_()):
        assert shown.startswith("<style>")
        assert shown.endswith(thing._card())
    return thing._card()


def test_an_estimate_shows_value_interval_picture_and_diagnostics():
    shown = html(Estimate(0.5, 0.1, kind="kl", diagnostics={"kernel_effective_size": [12.3456, 7.0]}))
    words = text(shown)
    assert "kl = 0.5 nats, 95 % interval 0.304 to 0.696" in words
    assert "kernel effective size 12.35, 7" in words
    assert "<svg" in shown


def test_a_negative_estimate_is_explained():
    assert "too small to distinguish from zero" in text(html(Estimate(-0.01, 0.1, kind="kl")))


def test_an_estimate_without_a_number_has_no_picture():
    shown = html(Estimate(float("nan"), 0.1, kind="kl"))
    assert "<svg" not in shown
    assert "nan" in text(shown)


def test_nothing_becomes_code():
    shown = card("<b>", "a & b", details={"<i>": "<script>"})
    assert "<script>" not in shown
    assert "<script>" in text(shown)


def test_a_ratio_shows_its_divergence_only_once_it_is_fitted():
    ratio = vwkde.DensityRatio(guide="gaussian")
    assert html(ratio) == ""
    words = text(html(ratio.fit(P, Q)))
    kl = ratio.divergence("kl")
    assert f"KL divergence {kl.value:.4g} nats, 95 % interval {kl.interval[0]:.4g}" in words
    assert "80 rows" in words
    assert "guide gaussian" in words


def test_a_warning_becomes_part_of_the_card_and_warns_nobody():
    ratio = vwkde.DensityRatio(guide="gaussian").fit(P, Q + 9)
    assert "extrapolation" in text(html(ratio))


def test_scikit_learn_can_be_set_to_text():
    ratio = vwkde.DensityRatio(guide="gaussian").fit(P, Q)
    with sklearn.config_context(display="text"):
        assert set(ratio._repr_mimebundle_()) == {"text/plain"}
        assert not hasattr(ratio, "_repr_html_")


def test_a_classifier_shows_how_far_its_classes_are_from_one_another():
    X = np.concatenate([P, Q, P + 30])
    y = np.repeat(["<a>", "b", "c"], [len(P), len(Q), len(P)])
    fitted = vwkde.RatioClassifier(ratio=vwkde.DensityRatio(guide="gaussian"))
    assert html(fitted) == ""
    words = text(html(fitted.fit(X, y)))
    assert f"{fitted.ratios_[0, 1].numerator_log_ratio_.mean():.2f}" in words
    assert f"{-fitted.ratios_[0, 1].denominator_log_ratio_.mean():.2f}" in words
    assert "<a>" in words
    assert "prior of b 0.36" in words


def test_many_classes_are_cut_short():
    X = RANDOM.normal(size=(70, 1)) + np.repeat(np.arange(14), 5)[:, None] * 0.1
    fitted = vwkde.RatioClassifier(ratio=vwkde.DensityRatio(guide=None, weighting="uniform", bandwidth=1.0))
    assert "and 2 more classes" in text(html(fitted.fit(X, np.repeat(np.arange(14), 5))))


def test_a_pipeline_shows_scikit_learns_own_picture():
    assert "RatioClassifier" in make_pipeline(vwkde.RatioClassifier())._repr_html_()


def test_a_two_sample_test_shows_every_p_value():
    result = vwkde.two_sample_test(P, Q, n_permutations=99)
    words = text(html(result))
    assert f"two-sample test: p = {result.p_value:.3g}" in words
    assert all(f"{name} p = {p:.3g}" in words for name, p in result.p_values.items())


def test_an_inspection_shows_verdict_and_map():
    pytest.importorskip("PIL")
    from vwkde.inspection import SurfaceInspector, make_surfaces

    surfaces = make_surfaces("brushed", n_good=22, n_bad=1, size=128)
    inspector = SurfaceInspector(features="texture")
    assert "not fitted yet" in text(html(inspector))
    inspector.fit(surfaces.images[:22])
    assert "22 good images of 128 × 128 pixels" in text(html(inspector))
    found = inspector.check(surfaces.images[22], "<new>")
    assert f"<new>: NG, p = {found.p_value:.3g}" in text(html(found))
    assert "data:image/png;base64," in html(found)
    good = html(inspector.check(surfaces.images[0]))
    assert "boxes none" in text(good)
