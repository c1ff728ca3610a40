"""Bad inputs of every kind for every verb and every public function: none may be taken for a good one.

Every call here is wrong in at least one way. A command must end with status 2 and one line; a function must raise an
error of its own words; and no file may have changed.
"""

import contextlib
import io
import itertools
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

import vwkde
from vwkde.cli import main
from vwkde.inspection import SurfaceInspector, make_surfaces, read_image

RANDOM = np.random.default_rng(0)
GOOD = RANDOM.normal(size=(60, 2))
FOREIGN = (
    "inhomogeneous",
    "could not convert",
    "Traceback",
    "object of type",
    "unsupported operand",
    "has no attribute",
)
"""Words of other packages, or of Python, that tell users nothing."""


ONLY_BESIDE_OTHERS = "three.csv", "wide.npy", "words.csv", "text.npy", "words.parquet"
"""Tables that are bad only beside samples with other columns."""


@dataclass(frozen=True)
class Outcome:
    """A call that went wrong in the wrong way."""

    call: str
    problem: str


def bad_tables(folder: Path) -> list[str]:
    """Write tables that cannot be used, and return their names."""
    texts = {
        "empty.csv": "", "header.csv": "a,b\n", "words.csv": "a,b\nx,y\nz,w\n", "nan.csv": "a,b\n1,2\nnan,3\n4,5\n",
        "inf.csv": "a,b\n1,2\ninf,3\n4,5\n", "ragged.csv": "a,b\n1,2\n3\n4,5,6\n", "one.csv": "a,b\n1,2\n",
        "three.csv": "a,b,c\n1,2,3\n4,5,6\n7,8,9\n", "twice.csv": "a,a\n1,2\n3,4\n", "quote.csv": 'a,b\n"1,2\n3,4\n',
        "dates.csv": "a,b\n2020-01-01,1\n2020-01-02,2\n", "table.xlsx": "PK", "none": "1,2\n", "noise.npy": "no array",
        "noise.parquet": "PAR1 no table PAR1", "cut.npy": "\x93NUMPY",
    }  # fmt: skip
    for name, text in texts.items():
        (folder / name).write_bytes(text.encode("latin-1"))
    (folder / "bytes.csv").write_bytes(bytes(range(256)) * 4)
    arrays = {
        "complex.npy": GOOD + 1j, "cube.npy": GOOD.reshape(2, 30, 2), "text.npy": np.array(["a", "b"]),
        "zero.npy": np.empty((0, 2)), "wide.npy": GOOD.reshape(2, 60), "missing.npy": np.where(GOOD > 2, np.nan, GOOD),
    }  # fmt: skip
    arrays["missing.npy"][0] = np.nan
    for name, array in arrays.items():
        np.save(folder / name, array)
    np.save(folder / "objects.npy", np.array([{}, []], dtype=object), allow_pickle=True)
    pq.write_table(pa.table({"a": ["x", "y"], "b": [1, 2]}), folder / "words.parquet")
    pq.write_table(pa.table({"a": pa.array([], pa.float64())}), folder / "zero.parquet")
    whole = io.BytesIO()
    pq.write_table(pa.table({"a": GOOD[:, 0], "b": GOOD[:, 1]}), whole)
    (folder / "cut.parquet").write_bytes(whole.getvalue()[:-40])
    (folder / "folder.csv").mkdir()
    return [*texts, "bytes.csv", *arrays, "objects.npy", "words.parquet", "zero.parquet", "cut.parquet", "folder.csv",
            "missing.csv", "", "-", "a\x1b[31m.csv", "x" * 300 + ".csv"]  # fmt: skip


def bad_pictures(folder: Path) -> list[str]:
    """Write images and models that cannot be used, and return their names."""
    picture = io.BytesIO()
    Image.fromarray(RANDOM.integers(0, 256, (96, 96), np.uint8)).save(picture, "PNG")
    (folder / "cut.png").write_bytes(picture.getvalue()[:500])
    (folder / "words.png").write_text("no picture")
    (folder / "empty.png").write_bytes(b"")
    Image.fromarray(np.zeros((40, 50), np.uint8)).save(folder / "small.png")
    (folder / "nothing").mkdir()
    (folder / "words.vwkde").write_text("no model, but long enough to be taken for the header of one")
    (folder / "empty.vwkde").write_bytes(b"")
    return ["cut.png", "words.png", "empty.png", "small.png", "nothing", "missing.png", "words.vwkde", "p.csv", ""]


def commands(tables: list[str], pictures: list[str]) -> Iterator[list[str]]:
    """Yield command lines, each wrong in at least one way."""
    for bad in tables:
        yield ["kl", bad, "q.csv"]
        yield ["kl", "p.csv", bad, "--method", "kde"]
        yield ["ratio", "p.csv", bad, "--at", "q.csv"]
        if bad != "one.csv":  # one point is enough
            yield ["ratio", "p.csv", "q.csv", "--at", bad, "--method", "kde"]
        if bad not in ONLY_BESIDE_OTHERS:
            yield ["ratio", bad, bad, "--at", bad, "-o", "out.csv"]
        if bad not in ("nan.csv", "missing.npy"):  # what is missing may drift, too
            yield ["drift", bad, "q.csv"]
        yield ["drift", "p.csv", bad, "-o", "p.csv"]
        yield ["reweight", "p.csv", bad, "-o", "out.csv"]
        yield ["test", bad, "q.csv", "--permutations", "19"]
        yield ["mi", "p.csv", bad]
    for output in ("p.csv", "q.csv", "folder.csv", "out.txt", "no/such/folder.csv", "", "none/out.csv", "./p.csv"):
        yield ["ratio", "p.csv", "q.csv", "--at", "q.csv", "-o", output]
    options = {
        "--method": ("best", "", "KDE", "0"), "--bandwidth": ("0", "-1", "nan", "inf", "wide", "1e-30", "True", ""),
        "--columns": ("c", "a,c", "1"), "--seed": ("-1", "x", "1.5", "99999999999999999999"), "--at": ("p.csv",),
        "--no-such": ("1",), "--json": ("yes",),
    }  # fmt: skip
    for option, values in options.items():
        for value in values:
            if (option, value) not in (("--method", ""), ("--bandwidth", "")):
                yield ["kl", "p.csv", "q.csv", option, value]
    for bad in pictures:
        yield ["inspect", "fit", bad, "-o", "new.vwkde"]
        yield ["inspect", "check", bad, "-m", "part.vwkde", "-o", "run"]
        yield ["inspect", "add", bad, "-m", "part.vwkde"]
        yield ["inspect", "eval", bad, "-m", "part.vwkde", "-o", "run"]
        yield ["inspect", "eval", bad, "-o", "run"]
    for bad in ("words.vwkde", "empty.vwkde", "missing.vwkde", "nothing", "good/0.png", "p.csv", "cut.npy"):
        for verb in ("check", "add", "eval"):
            yield ["inspect", verb, "good", "-m", bad, *(() if verb == "add" else ("-o", "run"))]
        for verb in ("undo", "history", "serve"):
            yield ["inspect", verb, "-m", bad]
    yield ["inspect", "undo", "-m", "part.vwkde"]  # nothing was added
    for output in ("good/0.png", "nothing", "p.csv", "p.csv/part.vwkde"):
        yield ["inspect", "fit", "good", "-o", output]
    for value in ("0", "1", "-1", "nan", "x", "5"):
        yield ["inspect", "fit", "good", "-o", "new.vwkde", "--rate", value]
        yield ["inspect", "eval", "good", "-o", "run", "--hold-out", value]
    for value in ("unheard-of", "", "Texture"):
        yield ["inspect", "fit", "good", "-o", "new.vwkde", "--features", value]
    for extra in (["--token", "short"], ["--port", "70000"], ["--port", "-1"], ["--host", "no.such.host.invalid"],
                  ["--max-upload", "0"], ["--max-seconds", "0"]):  # fmt: skip
        yield ["inspect", "serve", "-m", "part.vwkde", *extra]
    for name in ("fig99", "", "fig6", "table1"):
        yield ["reproduce", name, "--quick", "-o", "reproduced"]
    for extra in (["nonsense"], ["--kind", "ring"], ["growth", "sums"], ["growth", "--rows", "x"], ["--threads", "0"]):
        yield ["bench", "--quick", "-o", "bench", *extra]
    for verb in ("", "no-such", "inspect no-such", "kl", "ratio p.csv", "inspect", "inspect fit", "demo -o p.csv"):
        yield verb.split() or [""]


def bad_arrays() -> list[Any]:
    """Return values that are no sample."""
    holed, endless = GOOD.copy(), GOOD.copy()
    holed[3, 1], endless[3, 1] = np.nan, np.inf
    return [
        None, 7, "no such.csv", "no such file.npy", Path("no such.parquet"), [], [[]], [[1, 2], [3]], [["a", "b"]], {},
        {"a": 1}, object(), holed, endless, GOOD[:1], GOOD[:0], GOOD[:, :0], GOOD.reshape(2, 30, 2), GOOD + 1j,
        GOOD.astype(str) + "x", np.array([{}, []], dtype=object), np.array(["2020-01-01", "2020-01-02"], "M8[D]"),
        lambda: 0, b"bytes", [None, None, 1.0], [[1, None], [2, 3]],
    ]  # fmt: skip


def functions(arrays: list[Any]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield calls of public functions, each wrong in at least one way."""
    two = {"kl_divergence": partial(vwkde.kl_divergence, method="kde"), "default": vwkde.kl_divergence,
           "two_sample_test": partial(vwkde.two_sample_test, n_permutations=19),
           "log_density_ratio": vwkde.log_density_ratio, "DensityRatio": vwkde.DensityRatio().fit,
           "divergence": partial(vwkde.divergence, kind="jensen-shannon")}  # fmt: skip
    for (name, call), (number, bad) in itertools.product(two.items(), enumerate(arrays)):
        yield f"{name}(bad {number}, good)", partial(call, bad, GOOD)
        yield f"{name}(good, bad {number})", partial(call, GOOD, bad)
    x = GOOD[:, 0]
    for number, bad in enumerate(arrays):
        yield f"mutual_information(bad {number}, x)", partial(vwkde.mutual_information, bad, x)
        yield f"independence_test(x, bad {number})", partial(vwkde.independence_test, x, bad, n_permutations=19)
        yield f"RatioClassifier.fit(bad {number}, y)", partial(vwkde.RatioClassifier().fit, bad, [0, 1] * 30)
        yield f"weights bad {number}", partial(_with, vwkde.DensityRatio(), bad, "numerator_weight")
        yield f"groups bad {number}", partial(_with, vwkde.DensityRatio(), bad, "groups")
        yield f"SurfaceInspector.fit(bad {number})", partial(SurfaceInspector().fit, bad)
        yield f"SurfaceInspector.fit([bad {number}] * 3)", partial(SurfaceInspector().fit, [bad] * 3)
    values = [None, True, False, 0, -1, np.nan, np.inf, "x", "", [], {}, object(), -0.5]
    parameters = ["bandwidth", "length_scale", "ridge", "max_basis", "max_held", "memory_budget", "weighting", "target"]
    for name, value in itertools.product(parameters, values):
        yield f"DensityRatio({name}={value!r})", partial(_fit, vwkde.DensityRatio, {name: value})
    for name, value in itertools.product(["false_reject_rate", "candidates", "features", "engine"], values):
        yield f"SurfaceInspector({name}={value!r})", partial(_inspect, {name: value})
    for value in [*values, "good", Path("p.csv"), Path("nothing"), Path("words.png")]:
        yield f"load({value!r})", partial(_of_path, SurfaceInspector.load, value)
        yield f"read_image({value!r})", partial(_of_path, read_image, value)
    for value in values:
        yield f"method={value!r}", partial(vwkde.kl_divergence, GOOD, GOOD, method=value if value is not None else 0)
        yield f"make_surfaces({value!r})", partial(make_surfaces, value)


def _with(ratio: Any, bad: Any, name: str) -> Any:
    if bad is None:
        raise ValueError("None means no weights and no groups, which is fine.")
    return ratio.fit(GOOD, GOOD, **{name: bad})


def _fit(make: Any, parameters: dict[str, Any]) -> Any:
    return make(guide=None, **parameters).fit(GOOD, GOOD)


def _inspect(parameters: dict[str, Any]) -> Any:
    return SurfaceInspector(**parameters).fit([])


def _of_path(read: Any, value: Any) -> Any:
    return read(Path(value) if isinstance(value, str) else value)


def try_command(arguments: list[str]) -> Outcome | None:
    out, err = io.StringIO(), io.StringIO()
    sys.argv = ["vwkde", *arguments]
    call = f"vwkde {' '.join(map(repr, arguments))}"
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main.main()
    except SystemExit as stop:
        status = stop.code
    except BaseException as error:
        return Outcome(call, f"raises {type(error).__name__}: {error}")
    lines = [line for line in err.getvalue().splitlines() if not line.startswith("warning: ")]
    if status != 2:
        return Outcome(call, f"ends with status {status}")
    if "Traceback" in err.getvalue():
        return Outcome(call, "prints a traceback")
    if any(not each.isprintable() for each in "".join(lines)):
        return Outcome(call, "prints control characters")
    return Outcome(call, f"has words of others: {lines}") if any(word in err.getvalue() for word in FOREIGN) else None


def try_function(name: str, call: Callable[[], Any]) -> Outcome | None:
    try:
        call()
    except (ValueError, TypeError, OSError) as error:
        found = [word for word in FOREIGN if word in str(error)]
        return Outcome(name, f"has words of others: {error}") if found or not str(error) else None
    except BaseException as error:
        return Outcome(name, f"raises {type(error).__name__}: {error}")
    return Outcome(name, "succeeds")


def contents(folder: Path) -> dict[str, str]:
    """Return a digest of every file below a folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest() for path in files}


def run(folder: Path) -> tuple[int, list[Outcome]]:
    """Try all bad inputs in a folder; return how many there were, and what went wrong."""
    before_folder = Path.cwd()
    tables, pictures = bad_tables(folder), bad_pictures(folder)
    for name in ("p.csv", "q.csv"):
        np.savetxt(folder / name, GOOD, delimiter=",", header="a,b", comments="")
    (folder / "good").mkdir()
    surfaces = make_surfaces("woven", n_good=20, n_bad=0, size=96)
    for number, image in enumerate(surfaces.images):
        Image.fromarray(np.rint(255 * image).astype(np.uint8)).save(folder / "good" / f"{number}.png")
    SurfaceInspector().fit(surfaces.images).save(folder / "part.vwkde")
    before = contents(folder)
    os.chdir(folder)
    errors: list[Outcome | None] = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            errors += [try_command(arguments) for arguments in commands(tables, pictures)]
            errors += [try_function(*each) for each in functions(bad_arrays())]
    finally:
        os.chdir(before_folder)
    after = contents(folder)
    lost = [Outcome(name, "was changed or lost") for name in before if after.get(name) != before[name]]
    return len(errors), [*filter(None, errors), *lost]
