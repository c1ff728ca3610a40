"""Table 1: which images of surfaces are defective."""

from vwkde.reproduce.core.figure import Claim, Figure, Results
from vwkde.reproduce.surfaces.rows import REPETITIONS, best_of_unsupervised, deal_in_words, per_class, table
from vwkde.reproduce.surfaces.study import collect_surfaces, surface_tasks

PAPER = {
    "vwkde": {"dagm": (0.785, 0.002), "unseen": (0.967, 0.003)},
    "kde": {"dagm": (0.734, 0.005), "unseen": (0.926, 0.003)},
    "nn-1": {"dagm": (0.628, 0.002), "unseen": (0.813, 0.001)},
    "nn-10": {"dagm": (0.540, 0.003), "unseen": (0.614, 0.002)},
    "nnwang": {"dagm": (0.605, 0.002), "unseen": (0.657, 0.004)},
    "mmd": {"dagm": (0.618, 0.003), "unseen": (0.615, 0.008)},
    "osvm": {"dagm": (0.579, 0.001), "unseen": (0.538, 0.000)},
    "cnn": {"dagm": (0.901, 0.011), "unseen": (0.809, 0.029)},
}
"""The paper's numbers: mean and standard deviation."""


def _areas(results: Results, method: str) -> Results:
    areas: Results = results["methods"][method]["auc"]
    return areas


def _rows(results: Results) -> list[str]:
    return [
        *deal_in_words(results),
        "",
        *table(results, _areas, PAPER, "mAUC"),
        "",
        "By class, DAGM defects:",
        "",
        *per_class(results, _areas, "dagm"),
        "",
        "By class, pasted digits:",
        "",
        *per_class(results, _areas, "pasted"),
        "",
        "By class, added digits:",
        "",
        *per_class(results, _areas, "added"),
    ]


def _claims(results: Results) -> list[Claim]:
    return best_of_unsupervised(results, _areas, PAPER, "mAUC", "§5.3, Table 1", "detecting")


FIGURE = Figure(
    "table1",
    "Detection of defective surfaces",
    "Area under the ROC curve, averaged over the classes of DAGM (mean ± standard deviation over the repetitions). The "
    "score of an image is its smallest divergence from a good image. VWKDE here gives a patch at least the "
    "density in its own image that one equal patch would give it; KDE, in its published form, does not. Most of the "
    "lead over KDE comes from this.",
    surface_tasks,
    collect_surfaces,
    _claims,
    None,
    rows=_rows,
    repetitions=REPETITIONS,
    journal="surfaces",
    on_images=True,
)
