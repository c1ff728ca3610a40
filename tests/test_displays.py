import io
import subprocess
import sys

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError

import vwkde
from vwkde import DensityRatio, DivergenceDisplay, Estimate, LogRatioDisplay, OverlapDisplay
from vwkde.datasets import isotropic, mean_difference

matplotlib.use("Agg")

SAMPLES = {d: isotropic(d).sample(120, 90) for d in (1, 2, 5)}


class Ratios(dict):
    """Ratios by their number of columns, fitted when first used: every worker collects this file."""

    def __missing__(self, columns):
        return self.setdefault(columns, DensityRatio().fit(*SAMPLES[columns]))


RATIOS = Ratios()


@pytest.fixture(autouse=True)
def _no_figure_stays_open():
    yield
    plt.close("all")


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def heights(patch):
    values, _, baseline = patch.get_data()
    return values - baseline


def whisker_ends(display):
    (bars,) = display.errorbar_.lines[2]
    return [tuple(segment[:, 0]) for segment in bars.get_segments()]


# The log ratio over one feature


def test_curve_is_the_log_ratio_over_both_samples():
    p, q = SAMPLES[1]
    display = LogRatioDisplay.from_estimator(RATIOS[1], p, q)
    x, y = display.line_.get_data()
    np.testing.assert_array_equal(y, RATIOS[1].log_ratio(x))
    assert len(x) == 100
    assert x[0] < min(p.min(), q.min())
    assert x[-1] > max(p.max(), q.max())
    assert display.figure_.axes == [display.ax_]
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("x", "log p₁/p₂ (nats)")
    assert legend(display.ax_) == ["estimate", "numerator p₁ (120 rows)", "denominator p₂ (90 rows)"]


def test_histograms_lie_beneath_the_curve_and_show_the_samples():
    p, q = SAMPLES[1]
    display = LogRatioDisplay.from_estimator(RATIOS[1], p, q)
    lowest = RATIOS[1].log_ratio(np.vstack([p, q])).min()
    for sample, patch in zip((p, q), display.ax_.patches, strict=True):
        values, edges, _ = patch.get_data()
        counts = np.histogram(sample, edges)[0]
        np.testing.assert_allclose(heights(patch) / heights(patch).sum(), counts / len(sample), atol=1e-12)
        assert values.max() < lowest


def test_one_outlier_does_not_widen_the_picture():
    p, q = SAMPLES[1]
    far = np.vstack([p, [[1e6]]])
    display = LogRatioDisplay.from_estimator(RATIOS[1], far, q)
    assert display.line_.get_xdata()[-1] < 10
    few = LogRatioDisplay.from_estimator(RATIOS[1], np.full((3, 1), 20.0), q)
    assert few.line_.get_xdata()[-1] > 20


def test_points_may_set_the_range_and_a_name_distinguishes_curves():
    plain = DensityRatio(guide=None, weighting="uniform").fit(*SAMPLES[1])
    first = LogRatioDisplay.from_estimator(RATIOS[1], X=[[-1.0], [0.5], [2.0]], name="VWKDE", grid_resolution=7)
    second = LogRatioDisplay.from_estimator(plain, X=[-1, 2], grid_resolution=7, ax=first.ax_, label="KDE", color="C1")
    assert second.ax_ is first.ax_
    assert legend(first.ax_) == ["VWKDE", "KDE"]
    np.testing.assert_array_equal(second.line_.get_xdata(), np.linspace(-1, 2, 7))
    assert second.line_.get_color() == "C1"
    assert not first.ax_.patches


# The log ratio over two features


def test_map_shows_the_log_ratio_in_colours_centred_at_zero():
    p, q = SAMPLES[2]
    display = LogRatioDisplay.from_estimator(RATIOS[2], p, q, grid_resolution=20)
    x, y = display.grid
    assert display.log_ratio.shape == (20, 20)
    assert display.log_ratio[3, 7] == pytest.approx(RATIOS[2].log_ratio([[x[7], y[3]]])[0])
    levels = display.surface_.levels
    np.testing.assert_allclose(levels, -levels[::-1], atol=1e-12)
    assert display.surface_.norm(0.0) == pytest.approx(0.5)
    assert display.surface_.cmap(0.5)[:3] == pytest.approx((1, 1, 1), abs=0.01)


def test_map_has_dots_a_colour_bar_and_the_line_of_equal_densities():
    p, q = SAMPLES[2]
    display = LogRatioDisplay.from_estimator(RATIOS[2], p, q)
    dots = [c for c in display.ax_.collections if len(c.get_offsets()) > 1]
    for sample, dot in zip((p, q), dots, strict=True):
        np.testing.assert_array_equal(dot.get_offsets(), sample)
    assert display.figure_.axes == [display.ax_, display.colorbar_.ax]
    assert display.colorbar_.ax.get_ylabel() == "log p₁/p₂ (nats)"
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("column 0", "column 1")
    assert legend(display.ax_) == ["numerator p₁ (120 rows)", "denominator p₂ (90 rows)", "p₁ = p₂"]


def test_many_points_are_thinned_out():
    p, q = isotropic(2).sample(1500)
    display = LogRatioDisplay.from_estimator(RATIOS[2], p, q, grid_resolution=5)
    assert max(len(c.get_offsets()) for c in display.ax_.collections) == 1000
    assert len(display.numerator) == 1500
    assert "1,500 rows" in legend(display.ax_)[0]


def test_equal_samples_give_a_map_without_a_line():
    p, _ = SAMPLES[2]
    display = LogRatioDisplay.from_estimator(DensityRatio(guide=None, weighting="uniform").fit(p, p), p)
    assert legend(display.ax_) == ["numerator p₁ (120 rows)"]


def test_a_map_of_one_side_alone_has_neither_dots_nor_legend():
    mean = SAMPLES[2][0].mean(axis=0)
    X = mean + np.array([[-0.1, -0.1], [0.1, 0.1]])
    display = LogRatioDisplay.from_estimator(RATIOS[2], X=X, grid_resolution=5)
    assert display.log_ratio.min() > 0
    assert display.ax_.get_legend() is None
    assert [ax[[0, -1]].tolist() for ax in display.grid] == X.T.tolist()


def test_map_takes_options_of_contourf():
    display = LogRatioDisplay.from_estimator(RATIOS[2], *SAMPLES[2], cmap="PuOr", levels=[-1, 0, 1], grid_resolution=9)
    assert display.surface_.cmap.name == "PuOr"
    assert list(display.surface_.levels) == [-1, 0, 1]


# The log ratio over many features


def test_many_columns_give_histograms_of_the_log_ratios_at_the_rows():
    ratio = RATIOS[5]
    display = LogRatioDisplay.from_estimator(ratio)
    at_rows = ratio.numerator_log_ratio_, ratio.denominator_log_ratio_
    for values, patch in zip(at_rows, display.histograms_, strict=True):
        shares, edges, _ = patch.get_data()
        assert shares.sum() == pytest.approx(1)
        inside = np.clip(values, edges[0], edges[-1])
        np.testing.assert_allclose(shares, np.histogram(inside, edges)[0] / len(values))
    means = [line.get_xdata()[0] for line in display.ax_.lines]
    assert means == pytest.approx([values.mean() for values in at_rows])
    assert means[0] == pytest.approx(ratio.divergence("kl").value)
    assert display.ax_.get_xlabel() == "leave-one-out log p₁/p₂ (nats)"
    assert legend(display.ax_)[0].startswith("numerator p₁ (120 rows), mean ")


def test_features_choose_a_slice_through_the_medians():
    p, q = SAMPLES[5]
    display = LogRatioDisplay.from_estimator(RATIOS[5], p, q, features=3)
    x, y = display.line_.get_data()
    points = np.tile(np.median(np.vstack([p, q]), axis=0), (100, 1))
    points[:, 3] = x
    np.testing.assert_allclose(y, RATIOS[5].log_ratio(points))
    assert display.ax_.get_xlabel() == "column 3 (others at their medians)"
    np.testing.assert_array_equal(display.numerator, p[:, [3]])


def test_features_go_by_name():
    p, q = (pd.DataFrame(sample, columns=list("abcde")) for sample in SAMPLES[5])
    ratio = DensityRatio().fit(p, q)
    display = LogRatioDisplay.from_estimator(ratio, p[list("edcba")], q, features=("d", "b"), grid_resolution=5)
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("d (others at their medians)", "b")
    np.testing.assert_array_equal(display.numerator, p[["d", "b"]])


# Divergences

TWO = {"KDE": Estimate(0.7, 0.1, "kl"), "VWKDE": Estimate(1.02, 0.2, "kl")}


def test_whiskers_end_where_the_intervals_do():
    display = DivergenceDisplay.from_estimates(TWO, truth=1.0)
    assert list(display.errorbar_.lines[0].get_xdata()) == [0.7, 1.02]
    np.testing.assert_allclose(whisker_ends(display), [estimate.interval for estimate in TWO.values()])
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["KDE", "VWKDE"]
    assert display.ax_.get_xlabel() == "KL(p₁ ‖ p₂) (nats)"
    assert [text.get_text() for text in display.ax_.texts] == ["0.700", "1.02"]
    assert legend(display.ax_) == ["truth 1.00", "estimate, 95 % interval"]
    top, bottom = display.ax_.transData.transform([(0, 0), (0, 1)])[:, 1]
    assert top > bottom
    assert [line.get_xdata() for line in display.ax_.lines if line.get_label() == "truth 1.00"] == [[1.0, 1.0]]


def test_the_legend_says_the_level_of_the_intervals():
    wide, narrow = (Estimate(1.0, 0.1, "kl", confidence_level=level) for level in (0.99, 0.5))
    assert legend(DivergenceDisplay.from_estimates([wide]).ax_) == ["estimate, 99 % interval"]
    assert legend(DivergenceDisplay.from_estimates([wide, narrow]).ax_) == ["estimate and its interval"]


def test_a_whisker_without_an_upper_end_is_an_arrow_past_the_others():
    estimates = {"open": Estimate(0.7, 0.1, "kl", open_above=True), **TWO}
    display = DivergenceDisplay.from_estimates(estimates)
    (arrow,) = [line for line in display.ax_.lines if line.get_marker() == ">"]
    end = arrow.get_xdata()[0]
    assert TWO["VWKDE"].interval[1] < end < display.ax_.get_xlim()[1]
    np.testing.assert_allclose(whisker_ends(display)[0], [estimates["open"].interval[0], end])
    np.testing.assert_allclose(whisker_ends(display)[1:], [estimate.interval for estimate in TWO.values()])


def test_divergences_of_a_ratio():
    ratio = RATIOS[2]
    display = DivergenceDisplay.from_estimator(ratio)
    kinds = ["kl", "reverse-kl", "jensen-shannon", "hellinger", "total-variation"]
    np.testing.assert_allclose(whisker_ends(display), [ratio.divergence(kind).interval for kind in kinds])
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == [
        "KL(p₁ ‖ p₂) (nats)", "KL(p₂ ‖ p₁) (nats)", "Jensen–Shannon (nats)", "Hellinger", "Total variation",
    ]  # fmt: skip
    assert display.ax_.get_xlabel() == "divergence"


def test_one_kind_and_an_order():
    display = DivergenceDisplay.from_estimator(RATIOS[2], ["kl", "renyi"], order=0.5)
    assert display.estimates[1] == RATIOS[2].divergence("renyi", 0.5)
    assert display.names == ["KL(p₁ ‖ p₂)", "Rényi of order 0.5"]
    assert display.ax_.get_xlabel() == "divergence (nats)"
    assert DivergenceDisplay.from_estimator(RATIOS[2], "kl", color="C3").names == ["KL(p₁ ‖ p₂)"]


def test_a_list_goes_by_kind():
    display = DivergenceDisplay.from_estimates([*TWO.values(), Estimate(-1234.5, 1.0, "something new")])
    assert display.names == ["KL(p₁ ‖ p₂)", "KL(p₁ ‖ p₂)", "something new"]
    assert display.ax_.texts[2].get_text() == "−1,234"


# Overlap


def test_overlap_shows_distributions_and_the_share_of_the_weights():
    ratio = RATIOS[2]
    display = OverlapDisplay.from_estimator(ratio)
    numerator, denominator, share = display.lines_
    for values, line in ((ratio.numerator_log_ratio_, numerator), (ratio.denominator_log_ratio_, denominator)):
        np.testing.assert_array_equal(np.sort(values), line.get_xdata()[1:])
        assert line.get_ydata()[-1] == pytest.approx(1)
    weights = np.sort(ratio.importance_weights())[::-1]
    np.testing.assert_allclose(share.get_ydata(), np.append(0, np.cumsum(weights)) / len(weights))
    np.testing.assert_allclose(share.get_xdata(), np.arange(91) / 90)
    assert list(display.ax_) == display.figure_.axes
    assert display.ax_[1].get_xlabel() == "share of denominator rows, heaviest first"


def test_overlap_shades_where_one_sample_has_almost_no_rows():
    ratio = RATIOS[2]
    left, right = OverlapDisplay.from_estimator(ratio).ax_[0].patches
    assert left.get_x() + left.get_width() == pytest.approx(np.quantile(ratio.numerator_log_ratio_, 0.01))
    assert right.get_x() == pytest.approx(np.quantile(ratio.denominator_log_ratio_, 0.99))
    assert [left.get_label(), right.get_label()] == ["almost no numerator rows", "almost no denominator rows"]


@pytest.mark.parametrize(("weights", "text"), [(np.ones(1500), "1,500 of 1,500 rows"), (np.eye(3)[0], "1 of 3 rows")])
def test_overlap_writes_the_effective_size(weights, text):
    values = np.linspace(-1, 1, len(weights))
    display = OverlapDisplay(numerator_log_ratio=values, denominator_log_ratio=values, importance_weights=weights)
    assert display.plot().ax_[1].texts[0].get_text() == f"effective sample size\n{text}"


def test_effective_size_falls_with_the_distance():
    ratios = [DensityRatio().fit(*mean_difference(2, distance).sample(100)) for distance in (0.1, 3.0)]
    near, far = (OverlapDisplay.from_estimator(ratio).effective_size for ratio in ratios)
    assert far < 30 < 80 < near <= 100


# All of them


def all_displays(**options):
    yield LogRatioDisplay.from_estimator(RATIOS[1], *SAMPLES[1], **options)
    yield LogRatioDisplay.from_estimator(RATIOS[2], *SAMPLES[2], **options)
    yield LogRatioDisplay.from_estimator(RATIOS[5], **options)
    yield DivergenceDisplay.from_estimator(RATIOS[2], **options)


def test_given_axes_are_drawn_on_and_pyplot_does_not_know_them():
    figure = Figure()
    ax = figure.subplots()
    for display in all_displays(ax=ax):
        assert display.ax_ is ax
        assert display.figure_ is figure
    two = figure.subplots(1, 2)
    assert OverlapDisplay.from_estimator(RATIOS[2], ax=two).plot(list(two)).figure_ is figure
    figure.savefig(io.BytesIO(), format="png")
    assert plt.get_fignums() == []


def test_new_figures_are_pyplots_and_plot_returns_the_display():
    displays = [*all_displays(), OverlapDisplay.from_estimator(RATIOS[2])]
    assert [plt.figure(number) for number in plt.get_fignums()] == [display.figure_ for display in displays]
    for display in displays:
        assert display.plot(ax=display.ax_) is display


def test_legends_lie_above_the_data():
    for display in [*all_displays(), OverlapDisplay.from_estimator(RATIOS[2])]:
        display.figure_.canvas.draw()
        for ax in np.ravel(display.ax_):
            assert ax.get_legend().get_window_extent().y0 >= ax.bbox.y1 - 1


def test_colours_are_the_same_everywhere():
    curve, colours, _, _ = all_displays()
    assert [to_hex(patch.get_facecolor()) for patch in curve.ax_.patches] == ["#00798c", "#d1495b"]
    dots = [c for c in colours.ax_.collections if len(c.get_offsets()) > 1]
    assert [to_hex(dot.get_facecolor()[0]) for dot in dots] == ["#00798c", "#d1495b"]


@pytest.mark.parametrize(
    "make", [LogRatioDisplay.from_estimator, DivergenceDisplay.from_estimator, OverlapDisplay.from_estimator]
)
def test_only_a_fitted_ratio_will_do(make):
    with pytest.raises(NotFittedError, match=r"DensityRatio is not fitted yet; call fit\(numerator, denominator\)"):
        make(DensityRatio())
    with pytest.raises(TypeError, match=r"Got ndarray instead; make one and call fit"):
        make(SAMPLES[1][0])
    assert plt.get_fignums() == []


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (2, {"numerator": SAMPLES[5][0]}, r"as many columns as the samples that the ratio was fitted to \(2\). Got 5"),
        (5, {"denominator": SAMPLES[2][0]}, r"The denominator must have as many columns .* \(5\). Got 2"),
        (2, {"X": [1.0, 2.0]}, r"^X must have as many columns"),
        (1, {}, r"Give the samples, as in LogRatioDisplay.from_estimator\(ratio, numerator, denominator\)"),
        (5, {"features": 0}, "or any points as X"),
        (1, {"X": [2.0, 2.0]}, "The .X. parameter must vary .* give rows that differ"),
        (1, {"X": [0, 1], "grid_resolution": 1}, "'grid_resolution' parameter must be at least 2. Got 1"),
        (5, {"features": [0, 1, 2]}, r"one or two different columns out of \[0, 1, 2, 3, 4\]. Got \[0, 1, 2\]"),
        (5, {"features": "age"}, "Got 'age' instead"),
        (5, {"features": [1, 1]}, "two different columns"),
        (5, {"features": -1}, "Got -1 instead"),
    ],
)
def test_bad_input_is_refused_with_advice(columns, options, message):
    with pytest.raises(ValueError, match=message):
        LogRatioDisplay.from_estimator(RATIOS[columns], **options)
    assert plt.get_fignums() == []


@pytest.mark.parametrize("estimates", [[], {}, 0.3, [0.3], {"kl": 0.3}, TWO["KDE"]])
def test_only_estimates_are_drawn(estimates):
    with pytest.raises(TypeError, match="must be a list of Estimate or a dictionary of them by name"):
        DivergenceDisplay.from_estimates(estimates)


def test_overlap_needs_two_axes():
    with pytest.raises(ValueError, match=r"two axes, for example plt.subplots\(1, 2\)"):
        OverlapDisplay.from_estimator(RATIOS[2], ax=Figure().subplots())


def test_without_matplotlib_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for make in (lambda: next(all_displays()), lambda: DivergenceDisplay(names=["a"], estimates=[TWO["KDE"]]).plot()):
        with pytest.raises(ImportError, match=r"pip install 'vwkde\[plot\]'"):
            make()


def test_importing_a_display_loads_no_matplotlib():
    code = "import sys, vwkde; vwkde.LogRatioDisplay, vwkde.OverlapDisplay; print('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
    assert vwkde.displays.DivergenceDisplay is vwkde.DivergenceDisplay
