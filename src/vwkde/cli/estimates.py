"""The commands about two samples: `vwkde kl`, `vwkde divergence`, `vwkde ratio`."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from vwkde._answers.functionals import KINDS
from vwkde._runtime.exports import garbage_left
from vwkde.catalogue import is_baseline, methods
from vwkde.cli.console import bars, say
from vwkde.cli.grouped import Groups, read_labels, read_rows
from vwkde.cli.options import Dates, Header, Json, Missing, Seed, names_in
from vwkde.cli.outputs import Force, check_table_file

_LARGE = 2**30
"""Files larger than this, in bytes, are read in parts."""
_RESULTS = "log_ratio", "posterior"
"""The columns that `ratio` writes."""

Numerator = Annotated[Path, typer.Argument(metavar="P", help="Sample of P, the numerator: a CSV, Parquet or NPY file.")]
Denominator = Annotated[Path, typer.Argument(metavar="Q", help="Sample of Q, the denominator: a file as for P.")]
Method = Annotated[str | None, typer.Option(help=f"One of: {', '.join(methods())}. Default: the best estimator.")]
Bandwidth = Annotated[str, typer.Option(help="A number, in units of the spread of the data, or the name of a rule.")]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        help="Columns to use, for example a,b,c; can be repeated. Default: all that measure something.",
        show_default=False,
    ),
]


Kind = Annotated[str, typer.Option(help=f"One of: {', '.join(KINDS)}.")]
Order = Annotated[float | None, typer.Option(help="The order of renyi: positive and not 1.", show_default=False)]
Unit = Annotated[str | None, typer.Option(help="nats or bits. Default: nats, if the kind has a unit.")]


def kl(
    numerator: Numerator,
    denominator: Denominator,
    method: Method = None,
    bandwidth: Bandwidth = "auto",
    columns: Columns = None,
    groups: Groups = None,
    unit: Unit = None,
    missing: Missing = "refuse",
    dates: Dates = "refuse",
    header: Header = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Estimate the KL divergence KL(P ‖ Q) from two samples. For other divergences, see `vwkde divergence`."""
    divergence(**locals())


def divergence(
    numerator: Numerator,
    denominator: Denominator,
    kind: Kind = "kl",
    order: Order = None,
    method: Method = None,
    bandwidth: Bandwidth = "auto",
    columns: Columns = None,
    groups: Groups = None,
    unit: Unit = None,
    missing: Missing = "refuse",
    dates: Dates = "refuse",
    header: Header = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Estimate a divergence of P from Q from two samples, for example --kind jensen-shannon. Default: kl."""
    from vwkde._answers.kinds import check_divergence, check_unit

    with garbage_left():
        from vwkde import divergences

    check_unit(unit, check_divergence(kind, order)[0])
    samples = numerator, denominator
    p, q = (_sample(path, columns, header, method, groups) for path in samples)
    labels = tuple(read_labels(path, groups, header) for path in samples) if groups else None
    asked: dict[str, Any] = {"order": order, "method": method, "groups": labels, "unit": unit, "random_state": seed}
    with bars():
        estimate = divergences.divergence(p, q, kind, missing=missing, dates=dates, **asked, **_given(bandwidth))
    if as_json:
        typer.echo(json.dumps(estimate.to_dict(), indent=2))
    else:
        say(str(estimate))


def ratio(
    numerator: Numerator,
    denominator: Denominator,
    at: Annotated[Path, typer.Option(metavar="Z", help="Points at which to estimate the ratio: a file as for P.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Write to this CSV, Parquet or NPY file."),
    ] = None,
    method: Method = None,
    bandwidth: Bandwidth = "auto",
    columns: Columns = None,
    missing: Missing = "refuse",
    dates: Dates = "refuse",
    header: Header = None,
    seed: Seed = 0,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Estimate the log density ratio log p/q at given points, and the posterior of P for equal priors."""
    from vwkde._answers.posterior import posterior
    from vwkde._data.tables import read_table, write_table

    with garbage_left():
        from vwkde.divergences import make_estimator

    if output is not None:
        check_table_file(output, (numerator, denominator, at), _RESULTS, force)
    p, q = (_sample(path, columns, header, method) for path in (numerator, denominator))
    z = read_table(at, names_in(columns), header)
    reading = {"missing": missing, "dates": dates}
    with bars():
        fitted = make_estimator(method, {"random_state": seed, **reading, **_given(bandwidth)}).fit(p, q)
        log_ratio = fitted.log_ratio(z)
    results = dict(zip(_RESULTS, (log_ratio, posterior(log_ratio, 0.5)), strict=True))
    if output is not None:
        write_table(output, results)
        say(f"{len(log_ratio)} rows written to {output}", err=True)
    if as_json:
        typer.echo(json.dumps({name: values.tolist() for name, values in results.items()}))
    elif output is None:
        np.savetxt(
            sys.stdout, np.column_stack(list(results.values())), "%.8g", ",", header=",".join(results), comments=""
        )


def _sample(
    path: Path, columns: list[str] | None, header: bool | None, method: str | None, groups: str | None = None
) -> Any:
    """Return a sample as a table or, if the file is large and the method allows it, its path, to be read in parts."""
    as_it_is = columns is None and groups is None
    in_parts = path.suffix.lower() in (".npy", ".parquet") and as_it_is and not is_baseline(method)
    if in_parts and path.is_file() and path.stat().st_size > _LARGE:
        return path
    return read_rows(path, names_in(columns), header, groups)


def _given(bandwidth: str) -> dict[str, Any]:
    """Return the bandwidth as a parameter; no parameter if the method chooses it."""
    if bandwidth == "auto":
        return {}
    try:
        return {"bandwidth": float(bandwidth)}
    except ValueError:
        return {"bandwidth": bandwidth}
