"""The command that gives rows weights: `vwkde reweight`."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from vwkde._runtime.exports import garbage_left
from vwkde.cli.console import bars, say
from vwkde.cli.estimates import Columns
from vwkde.cli.options import Dates, Header, Json, Missing, Seed, names_in
from vwkde.cli.outputs import Force, check_table_file

if TYPE_CHECKING:
    from vwkde._data.frames import Frame

_RESULTS = "weight", "ratio", "standard_error"
"""The columns of the output."""

Simulation = Annotated[
    Path, typer.Argument(metavar="MC", help="The rows that get weights: a CSV, Parquet or NPY file.")
]
Data = Annotated[Path, typer.Argument(metavar="DATA", help="The rows that they should look like: a file as for MC.")]
Output = Annotated[Path, typer.Option("-o", "--output", help="Write to this CSV, Parquet or NPY file.")]
OwnWeight = Annotated[
    str | None, typer.Option(metavar="NAME", help="Column of MC with the rows' own weights, which may be negative.")
]
DataWeight = Annotated[str | None, typer.Option(metavar="NAME", help="Column of DATA with weights, likewise.")]
Estimator = Annotated[str, typer.Option(help="What estimates the ratio: auto, ratio, boosting or the name of a guide.")]
Check = Annotated[bool, typer.Option("--check", help="Fit halves of the rows, and test the weights on the others.")]


def reweight(
    simulation: Simulation,
    data: Data,
    output: Output,
    own_weight: OwnWeight = None,
    data_weight: DataWeight = None,
    estimator: Estimator = "auto",
    columns: Columns = None,
    missing: Missing = "refuse",
    dates: Dates = "refuse",
    header: Header = None,
    check: Check = False,
    seed: Seed = 0,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Find weights with which the rows of MC look like those of DATA.

    The output has one line for each row of MC, in its order: the weight with the row's own in it, the ratio alone, and
    the weight's standard error.
    """
    from vwkde._data.tables import write_table

    with garbage_left():
        from vwkde.weighting import importance_weights

    check_table_file(output, (simulation, data), _RESULTS, force)
    q, own = _read(simulation, columns, own_weight, header, "--own-weight")
    p, of_data = _read(data, columns, data_weight, header, "--data-weight")
    _refuse_other_columns({simulation: q, data: p})
    with bars():
        weights = importance_weights(
            p,
            q,
            estimator=estimator,
            numerator_weight=of_data,
            denominator_weight=own,
            random_state=seed,
            missing=missing,
            dates=dates,
        )
        found = dict(zip(_RESULTS, (weights.values, weights.ratio, weights.standard_errors), strict=True))
        curve = weights.discriminator() if check else None
    write_table(output, found)
    say(f"{len(weights)} rows written to {output}", err=True)
    if as_json:
        summary = {name: value for name, value in weights.to_dict().items() if name != "weights"}
        typer.echo(json.dumps({**summary, **({"discriminator": curve.to_dict()} if curve else {})}, indent=2))
        return
    say(str(weights))
    if curve is not None:
        low, high = curve.interval
        say(f"  a classifier on unseen rows: ROC AUC {curve.value:.3f} ({low:.3f} to {high:.3f}); 0.5 is the best")


def _read(
    path: Path, columns: list[str] | None, weight: str | None, header: bool | None, option: str
) -> tuple["Frame", NDArray[np.float64] | None]:
    """Return the rows of a file, and the weights in one of its columns, which is no measurement."""
    from dataclasses import replace

    from vwkde._data.kinds import BOOLEAN, NUMBER, floats_of, kind_of
    from vwkde._data.tables import read_table

    chosen = names_in(columns)
    if weight is None:
        return read_table(path, chosen, header), None
    frame = read_table(path, [*chosen, weight] if chosen else None, header)
    names: Any = frame.columns or ()
    if weight not in names:
        raise ValueError(
            f"{path}: there is no column {weight!r} for {option}; the file has {list(names) or 'no names'}."
        )
    kept = [name for name in names if name != weight]
    if not kept:
        raise ValueError(f"{path}: {weight!r} is the only column; there must be others to compare. Choose --columns.")
    values = frame.table[weight]
    if kind_of(values.type) not in (NUMBER, BOOLEAN):
        raise ValueError(f"{path}: the column {weight!r} for {option} must have numbers. Got {values.type} instead.")
    return replace(frame, table=frame.table.select(kept), columns=tuple(kept)), floats_of(values)


def _refuse_other_columns(frames: dict[Path, "Frame"]) -> None:
    """Raise if one of two files has columns besides its weights that the other has not."""
    (one, of_one), (other, of_other) = ((path, frame.columns or ()) for path, frame in frames.items())
    only = [[name for name in mine if name not in yours] for mine, yours in ((of_one, of_other), (of_other, of_one))]
    if of_one and of_other and any(only):
        raise ValueError(
            f"{one} and {other} must have the same columns besides weights. Only in {one}: {only[0] or 'none'}; "
            f"only in {other}: {only[1] or 'none'}. Name weights with --own-weight or --data-weight, or choose columns "
            f"with --columns a,b,c."
        )
