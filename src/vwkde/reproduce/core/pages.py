"""Output of a reproduced figure: results.json, a picture, and a page that says which claims hold."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from vwkde._display.matplotlib import require_matplotlib
from vwkde._runtime.files import save_picture, write_text
from vwkde.reproduce.core.digits import MNIST
from vwkde.reproduce.core.figure import Claim, Figure, Results, Scale

RESULTS = "results.json"
PAGE = "README.md"


def write_results(folder: Path, figure: Figure, results: Results, scale: Scale, versions: list[dict[str, str]]) -> None:
    """Write all numbers, the number of repetitions, and the versions that computed them."""
    record = {
        "figure": figure.name,
        "repetitions": scale.repetitions,
        "quick": scale.quick,
        "seeds": list(range(scale.repetitions)),
        "versions": versions,
        "claims": [asdict(claim) for claim in figure.claims(results)],
        "results": results,
    }
    write_text(folder / RESULTS, json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n")


def read_results(folder: Path) -> dict[str, Any]:
    """Return what `write_results` wrote."""
    record: dict[str, Any] = json.loads((folder / RESULTS).read_text(encoding="utf-8"))
    return record


def write_picture(folder: Path, figure: Figure, results: Results) -> None:
    """Draw the figure, if it has a picture."""
    if figure.draw is None:
        return
    require_matplotlib()
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=figure.size, layout="constrained")
    figure.draw(results, canvas)
    save_picture(folder / f"{figure.name}.png", canvas, dpi=100)


def write_page(folder: Path, figure: Figure) -> None:
    """Write the page of one figure from its results."""
    write_text(folder / PAGE, "\n".join(_section(figure, read_results(folder), level=1)) + "\n")


def write_overview(folder: Path, figures: list[Figure]) -> None:
    """Write one page on all figures with results in the folder: first the claims, then each figure."""
    records = {figure.name: read_results(folder / figure.name) for figure in figures if _is_done(folder, figure)}
    lines = [
        "# What the paper claims, and what was measured",
        "",
        *_claims_table([claim for record in records.values() for claim in _claims(record)]),
    ]
    for figure in figures:
        if figure.name in records:
            lines += ["", *_section(figure, records[figure.name], level=2, prefix=f"{figure.name}/")]
    write_text(folder / PAGE, "\n".join(lines) + "\n")


def _is_done(folder: Path, figure: Figure) -> bool:
    return (folder / figure.name / RESULTS).exists()


def _section(figure: Figure, record: dict[str, Any], level: int, prefix: str = "") -> list[str]:
    marks = "#" * level
    return [
        f"{marks} {_shown_name(figure.name)}: {figure.title}",
        "",
        f"{figure.about} {_extent(record)}",
        "",
        *_shown(figure, record, prefix),
        *_claims_table(_claims(record)),
        "",
        f"All numbers: [{RESULTS}]({prefix}{RESULTS}), computed with {_versions(record)}; "
        f"`{_command(figure, record)}` reproduces them.",
    ]


def _shown(figure: Figure, record: dict[str, Any], prefix: str) -> list[str]:
    """Return the picture and the rows of a figure, each followed by an empty line."""
    lines = []
    if figure.draw is not None:
        lines += [f"![{figure.title}]({prefix}{figure.name}.png)", ""]
    if figure.rows is not None:
        lines += [*figure.rows(record["results"]), ""]
    return lines


def _command(figure: Figure, record: dict[str, Any]) -> str:
    data = " --data DAGM" if figure.on_images else ""
    if record["results"].get("digits") == MNIST:
        data += f" --digits {MNIST}"
    return f"vwkde reproduce {figure.name}{data}{' --quick' if record['quick'] else ''}"


def _claims_table(claims: list[Claim]) -> list[str]:
    rows = [
        f"| {claim.text} | {claim.where} | {claim.measured} | {'yes' if claim.holds else '**no**'} |"
        for claim in claims
    ]
    return ["| the paper claims | where | measured | holds |", "|---|---|---|---|", *rows]


def _claims(record: dict[str, Any]) -> list[Claim]:
    return [Claim(**claim) for claim in record["claims"]]


def _extent(record: dict[str, Any]) -> str:
    if record["quick"]:
        return f"**A quick, reduced run of {record['repetitions']} repetitions: too few to judge the claims.**"
    return f"{record['repetitions']} repetition{'s' if record['repetitions'] > 1 else ''}."


def _versions(record: dict[str, Any]) -> str:
    used = [", ".join(f"{name} {number}" for name, number in each.items()) for each in record["versions"]]
    return "; and with ".join(used)


def _shown_name(name: str) -> str:
    return f"Table {name.removeprefix('table')}" if name.startswith("table") else f"Figure {name.removeprefix('fig')}"
