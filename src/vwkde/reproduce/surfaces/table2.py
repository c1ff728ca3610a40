"""Table 2: where in the images of surfaces the defects are."""

from functools import partial

from vwkde.reproduce.core.figure import Claim, Figure, Results
from vwkde.reproduce.surfaces.readings import READINGS
from vwkde.reproduce.surfaces.rows import (
    REPETITIONS,
    best_of_unsupervised,
    deal_in_words,
    markdown_row,
    per_class,
    table,
    total,
)
from vwkde.reproduce.surfaces.study import COLUMNS, LABELS, collect_surfaces, surface_tasks

PAPER = {
    "vwkde": {"dagm": (0.369, 0.005), "unseen": (0.903, 0.007)},
    "kde": {"dagm": (0.294, 0.004), "unseen": (0.849, 0.006)},
    "nn-1": {"dagm": (0.095, 0.008), "unseen": (0.488, 0.002)},
    "nn-10": {"dagm": (0.081, 0.004), "unseen": (0.254, 0.002)},
    "nnwang": {"dagm": (0.029, 0.005), "unseen": (0.024, 0.000)},
    "mmd": {"dagm": (0.151, 0.006), "unseen": (0.032, 0.001)},
    "osvm": {"dagm": (0.249, 0.012), "unseen": (0.444, 0.009)},
    "cnn": {"dagm": (0.699, 0.037), "unseen": (0.564, 0.060)},
}
"""The paper's numbers: mean and standard deviation."""
_IN_WORDS = {
    "all": "all patches above 90 % of the largest log ratio, capped at 87 nats; pixels against the mask",
    "unbounded": "the same without the cap",
    "region": "only the connected region of the largest of these patches",
    "boxes": "the bounding box of all these patches against that of the mask",
    "pixels": "pixels above 90 %, each the mean of the patches over it",
}


def _precisions(results: Results, method: str, reading: str = "all") -> Results:
    precisions: Results = results["methods"][method]["ap"][reading]
    return precisions


def _rows(results: Results) -> list[str]:
    lines = [*deal_in_words(results), "", *table(results, _precisions, PAPER, "mAP"), ""]
    lines += ["The paper leaves open when a detection is right. DAGM / pasted / added, by every reading:", ""]
    return [*lines, *_readings(results), "", "By class, DAGM defects:", "", *per_class(results, _precisions, "dagm")]


def _readings(results: Results) -> list[str]:
    heads = ["", *(_IN_WORDS[reading] for reading in READINGS)]
    lines = [markdown_row(heads), f"|{'---|' * len(heads)}"]
    for method in results["methods"]:
        cells = []
        for reading in READINGS:
            taken = partial(_precisions, reading=reading)
            cells.append(" / ".join(f"{total(results, taken, method, column)[0]:.3f}" for column in COLUMNS))
        lines.append(markdown_row([LABELS[method], *cells]))
    return lines


def _claims(results: Results) -> list[Claim]:
    return best_of_unsupervised(results, _precisions, PAPER, "mAP", "§5.3, Table 2", "localising")


FIGURE = Figure(
    "table2",
    "Localisation of defects",
    "Average precision as in the PASCAL VOC challenge, averaged over the classes of DAGM (mean ± standard deviation "
    "over the repetitions). One detection per image: all patches above 90 % of the largest log ratio, where log ratios "
    "are capped at 87 nats, the limit of single precision. It is right if its intersection over union with the mask "
    "exceeds 0.1; the confidence is the score of the image. Good images are included.",
    surface_tasks,
    collect_surfaces,
    _claims,
    None,
    rows=_rows,
    repetitions=REPETITIONS,
    journal="surfaces",
    on_images=True,
)
