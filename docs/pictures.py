"""Draw the pictures of README and choosing.md: python docs/pictures.py [NAME …].

The first one, `twenty`, shows the KL divergence in twenty dimensions from the record of Figure 4. Each of the others
shows a pair of densities, the log ratio that plain kernel estimates and one variant give at the numerator's rows, and
the KL divergence over several samples.
"""

import json
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vwkde import datasets
from vwkde._display.matplotlib import legend_above
from vwkde._display.style import BLACK, RED, TEAL
from vwkde.divergences import make_ratio

IMAGES = Path(__file__).parent / "images"
RECORD = Path(__file__).parent / "results" / "fig4" / "results.json"
SAMPLES = 8
GOLD = "#edae49"
TWENTY = "twenty"
PAIRS = {"iso-20": "shifted Gaussians", "nh-20": "different covariances"}
METHODS = {
    "kde": ("plain KDE", RED),
    "vwkde-mb": ("VWKDE-MB (the paper)", TEAL),
    "default": ("vwkde, the default", GOLD),
}


@dataclass(frozen=True)
class Picture:
    """One variant, on data that suit it."""

    name: str
    title: str
    pair: Any
    label: str
    parameters: dict[str, Any]
    method: str | None = None
    rows: int = 1_000


PICTURES = (
    Picture("default", "Two bananas", datasets.bananas(), "default", {}),
    Picture("guide", "Two triangles of modes", datasets.three_modes(), 'guide="mixture"', {"guide": "mixture"}),
    Picture("vwkde-mb", "NH, 20 columns", datasets.heteroscedastic(20), "vwkde-mb", {}, "vwkde-mb"),
    Picture("vwkde-mf", "Modes, 18 columns of noise", datasets.three_modes(20), "vwkde-mf", {}, "vwkde-mf"),
    Picture(
        "mixed",
        "Two triangles of modes",
        datasets.three_modes(),
        "mixture, network",
        {"guide": None, "derivatives": "mixture", "weighting": "network"},
    ),
    Picture("kernel", "Two bananas", datasets.bananas(), "kernel", {"guide": None, "derivatives": "kernel"}),
    Picture("kde", "Two triangles of modes", datasets.three_modes(), "kde", {}, "kde", rows=10_000),
)


def draw_twenty_dimensions() -> None:
    """Save mean and standard deviation of the KL estimates at 1,000 rows in twenty dimensions, with the truth."""
    results = json.loads(RECORD.read_text(encoding="utf-8"))["results"]
    figure = Figure(figsize=(8, 4), layout="constrained")
    ax = figure.subplots()
    ax.axhline(0, color=BLACK, lw=0.6, ls=":")
    for place, pair in enumerate(PAIRS):
        size = results[pair]["x"].index(1_000)
        truth = results[pair]["truth"][size]
        ax.hlines(truth, place - 0.42, place + 0.42, color=BLACK, lw=1.2, zorder=1, label="" if place else "truth")
        for step, (method, (label, color)) in enumerate(METHODS.items(), start=-1):
            values = np.array(results[pair]["methods"][method]["kl"][size])
            x, mean, deviation = place + 0.27 * step, values.mean(), values.std(ddof=1)
            style = {"fmt": "o", "ms": 9, "lw": 2.5, "capsize": 6, "color": color}
            ax.errorbar(x, mean, deviation, **style, label="" if place else label)
            shown = f"{mean:.2f}".replace("-", "−")
            ax.annotate(shown, (x, mean - deviation), (0, -5), textcoords="offset points", ha="center", va="top")
    ax.set_xticks(range(len(PAIRS)), PAIRS.values(), fontsize="large")
    ax.set(ylabel="KL divergence in 20-D, nats", xlim=(-0.5, len(PAIRS) - 0.5), ylim=(-1.15, 1.3))
    legend_above(ax, columns=4, fontsize="medium")
    figure.savefig(IMAGES / "kl-in-twenty-dimensions.png", dpi=100)
    save_dark(IMAGES / "kl-in-twenty-dimensions.png")


def save_dark(path: Path) -> None:
    """Save a picture for dark pages beside one for light pages: dark and light change places, and hues stay.

    The ground, which becomes black, is transparent, so that the page's own shows.
    """
    light = plt.imread(path)[..., :3]
    dark = light + 1 - light.max(axis=-1, keepdims=True) - light.min(axis=-1, keepdims=True)
    opacity = dark.max(axis=-1, keepdims=True)
    colours = np.divide(dark, opacity, out=np.zeros_like(dark), where=opacity > 0)
    plt.imsave(path.with_stem(f"{path.stem}-dark"), np.concatenate([colours, opacity], axis=-1))


def draw(picture: Picture) -> None:
    """Save one picture."""
    figure = Figure(figsize=(12, 3.6), layout="constrained")
    data, ratios, divergences = figure.subplots(1, 3)
    P, Q = picture.pair.sample(picture.rows)
    variant = make_ratio(picture.method, picture.parameters).fit(P, Q)
    plain = make_ratio("kde", {}).fit(P, Q)
    draw_data(data, P, Q, picture)
    draw_log_ratios(ratios, picture.pair.log_ratio(P), [("kde", plain, RED), (picture.label, variant, TEAL)])
    draw_divergences(divergences, picture)
    figure.savefig(IMAGES / f"variant-{picture.name}.png", dpi=110)


def draw_data(ax: Axes, P: Any, Q: Any, picture: Picture) -> None:
    """Show some rows of both samples."""
    for x, color, label in ((Q[:1_000], GOLD, "denominator"), (P[:1_000], TEAL, "numerator")):
        ax.scatter(*x[:, :2].T, s=4, alpha=0.5, color=color, label=label, linewidths=0)
    ax.set(title=f"{picture.title}, {picture.rows:,} rows", xlabel="first column", ylabel="second column")
    ax.legend(frameon=False, fontsize="small", markerscale=3)


def draw_log_ratios(ax: Axes, truth: Any, estimates: list[tuple[str, Any, str]]) -> None:
    """Show estimates of the log ratio against the truth, each label once."""
    low, high = np.quantile(truth, [0.005, 0.995])
    for label, ratio, color in {each[0]: each for each in estimates}.values():
        ax.scatter(truth, ratio.numerator_log_ratio_, s=4, alpha=0.4, color=color, label=label, linewidths=0)
    ax.plot([low, high], [low, high], color=BLACK, lw=1)
    margin = 0.4 * (high - low)
    ax.set(title="Log ratio at the numerator's rows", xlabel="truth", ylabel="estimate")
    ax.set(xlim=(low, high), ylim=(low - margin, high + margin))
    ax.legend(frameon=False, fontsize="small", markerscale=3)


def draw_divergences(ax: Axes, picture: Picture) -> None:
    """Show KL over several samples, by plain kernel estimates, the paper's estimator, the variant and the default."""
    rows = {
        "kde": ("kde", {}, RED),
        "vwkde-mb": ("vwkde-mb", {}, GOLD),
        picture.label: (picture.method, picture.parameters, TEAL),
        "default": (None, {}, BLACK),
    }
    for place, (label, (method, parameters, color)) in enumerate(rows.items()):
        values = [
            make_ratio(method, parameters).fit(*picture.pair.sample(picture.rows, random_state=seed)).divergence("kl")
            for seed in range(SAMPLES)
        ]
        ax.plot([value.value for value in values], [place] * SAMPLES, "o", color=color, alpha=0.6)
        print(f"{picture.name}: {label} {np.mean([value.value for value in values]):.3f}", flush=True)
    ax.axvline(picture.pair.kl, color=BLACK, lw=1)
    ax.set_yticks(range(len(rows)), list(rows))
    ax.invert_yaxis()
    ax.set(title=f"KL of {SAMPLES} samples", xlabel=f"nats (line: the truth, {picture.pair.kl:.3f})")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if not sys.argv[1:] or TWENTY in sys.argv[1:]:
        draw_twenty_dimensions()
    for each in PICTURES:
        if not sys.argv[1:] or each.name in sys.argv[1:]:
            draw(each)
