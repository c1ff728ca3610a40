"""The commands as a newcomer types them: output, exit status, one line per error."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import vwkde
from support.commands import runner
from vwkde.cli import estimates, main
from vwkde.datasets import isotropic

P, Q = isotropic(3).sample(150, 120)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    pd.DataFrame(P, columns=list("abc")).to_csv(tmp_path / "p.csv", index=False)
    pd.DataFrame(Q, columns=list("abc"))[["b", "c", "a"]].to_parquet(tmp_path / "q.parquet")
    np.save(tmp_path / "z.npy", P[:4])
    (tmp_path / "d.csv").mkdir()
    (tmp_path / "words.csv").write_text("a,b\n1,x\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(folder, capfd, monkeypatch):  # noqa: ARG001  the commands run in that folder
    return runner(capfd, monkeypatch)


def test_large_files_are_read_in_parts(run, monkeypatch):
    *_, expected, _ = run("kl", "p.csv", "q.parquet", "--method", "kde")
    monkeypatch.setattr(estimates, "_LARGE", 0)
    assert isinstance(estimates._sample(Path("q.parquet"), None, None, "kde"), Path)
    assert not isinstance(estimates._sample(Path("q.parquet"), None, None, "nn"), Path)
    assert not isinstance(estimates._sample(Path("q.parquet"), ["a,b"], None, "kde"), Path)
    assert run("kl", "p.csv", "q.parquet", "--method", "kde") == (0, expected, "")
    assert run("ratio", "p.csv", "q.parquet", "--at", "z.npy", "--method", "kde")[0] == 0


def test_kl_prints_the_value(run):
    status, out, err = run("kl", "p.csv", "q.parquet")
    assert (status, err) == (0, "")
    assert out.startswith(f"kl = {vwkde.kl_divergence(P, Q).value:.4g} nats")


def test_kl_as_json_with_options(run):
    status, out, _ = run(
        "kl", "p.csv", "q.parquet", "--method", "kde", "--bandwidth", "0.8", "--columns", "a,b", "--json"
    )
    expected = vwkde.kl_divergence(P[:, :2], Q[:, :2], method="kde", bandwidth=0.8)
    assert status == 0
    assert json.loads(out)["value"] == pytest.approx(expected.value)
    assert json.loads(out)["interval"] == pytest.approx(list(expected.interval))


@pytest.mark.parametrize("columns", [("a", "b"), ("a,b",), ("a", "b,a"), ("a,b", "b")])
def test_columns_add_up_when_the_option_is_repeated(run, columns):
    options = [word for each in columns for word in ("--columns", each)]
    status, out, _ = run("kl", "p.csv", "q.parquet", "--method", "kde", *options, "--json")
    assert status == 0
    assert json.loads(out)["details"]["diagnostics"]["columns"] == 2
    assert json.loads(out)["value"] == pytest.approx(vwkde.kl_divergence(P[:, :2], Q[:, :2], method="kde").value)


def test_columns_without_names_are_chosen_by_number(run, folder):
    for name, sample in (("p", P), ("q", Q)):
        np.save(folder / f"{name}.npy", sample)
        np.savetxt(folder / f"plain-{name}.csv", sample, delimiter=",")
    expected = vwkde.kl_divergence(P[:, [2, 0]], Q[:, [2, 0]], method="kde").value
    for names in (("p.npy", "q.npy"), ("plain-p.csv", "plain-q.csv", "--no-header")):
        status, out, _ = run("kl", *names, "--method", "kde", "--columns", "2,0", "--json")
        assert status == 0
        assert json.loads(out)["value"] == pytest.approx(expected)


def test_an_option_that_only_switches_can_be_repeated(run):
    assert run("kl", "p.csv", "q.parquet", "--method", "kde", "--json", "--json")[0] == 0


def test_bandwidth_may_be_a_rule(run):
    _, out, _ = run("kl", "p.csv", "q.parquet", "--bandwidth", "scott", "--json")
    assert (
        json.loads(out)["details"]["diagnostics"]["bandwidth"]
        == vwkde.DensityRatio(bandwidth="scott").fit(P, Q).bandwidth_
    )


def test_ratio_prints_csv_and_writes_files(run):
    expected = vwkde.log_density_ratio(P, Q, at=P[:4])
    status, out, _ = run("ratio", "p.csv", "q.parquet", "--at", "z.npy")
    assert status == 0
    assert out.splitlines()[0] == "log_ratio,posterior"
    np.testing.assert_allclose([float(line.split(",")[0]) for line in out.splitlines()[1:]], expected, rtol=1e-6)
    status, out, err = run("ratio", "p.csv", "q.parquet", "--at", "z.npy", "-o", "out.csv", "--json")
    np.testing.assert_allclose(json.loads(out)["log_ratio"], expected)
    np.testing.assert_allclose(pd.read_csv("out.csv")["log_ratio"], expected)
    assert err == "4 rows written to out.csv\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("kl", "p.csv", "none.csv"), "error: none.csv: there is no such file; check the path."),
        (
            ("kl", "p.csv", "q.parquet", "--bandwidth", "-1"),
            "error: The --bandwidth option must be one of 'auto', 'ise'",
        ),
        (("kl", "p.csv", "q.parquet", "--method", "magic"), "error: The --method option"),
        (
            ("kl", "p.csv", "q.parquet", "--seed", "-1"),
            "error: The --seed option must be a whole number from 0 to 4294",
        ),
        (("kl", "p.csv", "q.parquet", "--missing", "x"), "error: The --missing option must be one of 'indicator', 're"),
        (("kl", "d.csv", "q.parquet"), "error: d.csv: is a folder. Name a file."),
        (
            ("kl", "z.npy", "z.npy", "--columns", "a"),
            "error: z.npy: the file has no column names. Choose its columns by",
        ),
        (("klx",), "error: No such command 'klx'. Did you mean 'kl'? See: "),
        (("kl", "p.csv", "q.parquet", "--columns", "a,x"), "error: p.csv: there are no columns ['x']"),
        (("kl", "p.csv", "q.parquet", "--columns", ""), "error: A list of columns is empty. Name columns, such as a,b"),
        (("kl", "words.csv", "p.csv", "--columns", "a,b"), "error: Column 'b' must mean the same in all rows."),
        (("ratio", "p.csv", "q.parquet", "--at", "z.npy", "-o", "out.xls"), "error: out.xls: the file name"),
        (("ratio", "none.csv", "q.parquet", "--at", "z.npy", "-o", "out.txt"), "error: out.txt: the file name"),
        (("ratio", "none.csv", "q.parquet", "--at", "z.npy", "-o", "no/out.csv"), "error: no/out.csv: there is no fol"),
        (("ratio", "none.csv", "q.parquet", "--at", "z.npy", "-o", "d.csv"), "error: d.csv: is a folder. Name a file"),
        (("kl", "p.csv"), "error: Missing argument 'Q'. See: "),
        (("kl", "p.csv", "q.parquet", "--magic"), "error: No such option: --magic"),
        (("kl", "p.csv", "q.parquet", "--seed", "one"), "error: Invalid value for '--seed'"),
        (("kl", "p.csv", "q.parquet", "--seed", "1", "--seed", "2"), "error: Option --seed was given 2 times"),
        (
            ("ratio", "p.csv", "q.parquet", "--at", "z.npy", "-o", "a.csv", "--output", "b.csv"),
            "error: Option --output",
        ),
        (("inspect", "check", "images", "-m", "a.vwkde", "-m", "b.vwkde"), "error: Option --model was given 2 times"),
        (("magic",), "error: No such command 'magic'. See: "),
    ],
)
def test_errors_are_one_line_with_status_two(run, arguments, message):
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert err.startswith(message)
    assert err.count("\n") == 1


def test_columns_that_cannot_be_used_are_told_with_the_option_that_chooses_others(run):
    _, _, err = run("kl", "words.csv", "p.csv", "--columns", "a,b")
    assert err.endswith("Or choose columns with --columns a,b,c.\n")


@pytest.fixture
def mixed(folder):
    random = np.random.default_rng(5)
    for name, shift in (("p", 0.4), ("q", 0.0)):
        frame = pd.DataFrame({"x": random.normal(shift, 1, 200), "colour": random.choice(["red", "blue"], 200)})
        frame["day"] = pd.date_range("2026-01-01", periods=200).strftime("%Y-%m-%d")
        frame.mask(random.random(frame.shape) < 0.1).to_csv(folder / f"{name}_mixed.csv", index=False)
    return "p_mixed.csv", "q_mixed.csv"


def test_gaps_and_dates_are_told_with_the_options_that_help(run, mixed):
    *_, err = run("kl", *mixed)
    assert "dates or times in column 'day' (date32[day]) instead; add `--dates number`" in err
    *_, err = run("kl", *mixed, "--dates", "drop")
    assert "in column 'x'" in err
    assert "add `--missing indicator` to use them" in err
    assert err.count("\n") == 1


def test_mixed_tables_from_csv_give_the_answer_of_the_same_frames(run, mixed):
    options = "--missing", "indicator", "--dates", "number", "--method", "classifier"
    status, out, _ = run("kl", *mixed, *options, "--json")
    frames = [pd.read_csv(path, parse_dates=["day"]) for path in mixed]
    expected = vwkde.kl_divergence(*frames, missing="indicator", dates="number", method="classifier")
    assert status == 0
    assert json.loads(out)["value"] == pytest.approx(expected.value)
    status, out, _ = run("ratio", *mixed, "--at", mixed[0], *options)
    assert (status, out.count("\n")) == (0, 201)


def test_numbers_in_the_first_line_are_names_or_a_row_as_the_user_says(run, folder):
    for name, sample in (("p", P), ("q", Q)):
        pd.DataFrame(sample, columns=["2019", "2020", "2021"]).to_csv(folder / f"{name}_years.csv", index=False)
    files = "p_years.csv", "q_years.csv"
    status, _, err = run("kl", *files)
    assert status == 2
    assert err.startswith("error: p_years.csv: the first line (2019,2020,2021) may be the names of the columns")
    status, out, _ = run("kl", *files, "--header", "--method", "classifier", "--json")
    assert json.loads(out)["details"]["diagnostics"]["rows"] == [len(P), len(Q)]
    status, out, _ = run("kl", *files, "--no-header", "--method", "classifier", "--json")
    assert json.loads(out)["details"]["diagnostics"]["rows"] == [len(P) + 1, len(Q) + 1]


@pytest.mark.filterwarnings("default")
def test_warnings_are_one_line(run, folder):
    np.save(folder / "far.npy", Q + 100)
    status, out, err = run("kl", "p.csv", "far.npy", "--json")
    assert status == 0
    assert json.loads(out)["details"]["diagnostics"]["unsupported_fraction"] == [1, 1]
    assert json.loads(out)["open_above"] is True
    assert json.loads(out)["interval"][1] is None
    assert err.startswith("warning: 100% of the numerator's points")
    assert err.count("\n") == 1


def test_demo_gives_the_numbers_and_draws_the_picture(run, folder):
    status, out, err = run("demo", "--json", "-o", "pictures")
    assert status == 0
    assert (folder / "pictures" / "demo.png").read_bytes().startswith(b"\x89PNG")
    rows = {row["example"]: row for row in json.loads(out)}
    assert "Picture" in err
    for name in ("1-D, h = 0.4", "1-D, h = 0.7", "1-D, h = 1.0", "Iso 20-D", "NH 20-D"):
        truth = rows[name]["truth"]
        assert abs(rows[name]["vwkde"] - truth) < 0.2 * truth
        # on NH 20-D, twice what an estimator that knows the ratio scatters by, √(Var_p(log r)/n + Var_q(r)/n)
        assert abs(rows[name]["default"] - truth) < (2 * 0.064 if name == "NH 20-D" else 0.2 * truth)
        assert abs(rows[name]["kde"] - truth) > abs(rows[name]["vwkde"] - truth)


def test_demo_without_matplotlib_still_gives_the_table(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr("vwkde.cli.demo.ROWS", 300)  # the numbers have a test of their own
    status, out, err = run("demo")
    assert status == 0
    assert "NH 20-D" in out
    assert "pip install 'vwkde[plot]'" in err


def test_version_and_module():
    python = sys.executable, "-m"
    for command in ((*python, "vwkde"), (*python, "vwkde.cli"), (f"{sys.prefix}/bin/vwkde",)):
        done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == vwkde.__version__


def test_bars_appear_on_a_terminal_when_work_lasts(monkeypatch, capfd):
    from rich.console import Console

    from vwkde._runtime import progress
    from vwkde.cli import console

    monkeypatch.setattr(console, "_PATIENCE", 0.0)
    monkeypatch.setattr(console, "errors", Console(stderr=True, force_terminal=True))
    with console.bars():
        list(progress.track(range(3), "kernel sums", 3))
    assert "kernel sums" in capfd.readouterr().err
    with console.bars():
        list(progress.track([], "never", 0))
    assert "never" not in capfd.readouterr().err


@pytest.mark.parametrize(
    "printing",
    [
        "print('a line\\n' * 100_000)",
        "typer.echo('a line\\n' * 100_000)",
        "[console.screen.print('a line') for _ in range(10_000)]",
        "print('a line')",
    ],
)
def test_a_reader_who_leaves_is_no_finding(printing):
    code = (
        "import sys, time, typer; from vwkde.cli import console, main; "
        f"main.app.command('talk')(lambda: (time.sleep(0.3), {printing}) and None); "
        "sys.argv = ['vwkde', 'talk']; main.main()"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        told = process.stderr.read()
    assert (process.returncode, told) == (main.BROKEN_PIPE, b"")


def test_ctrl_c_is_no_finding(run, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("vwkde.divergences.divergence", stop)
    assert run("kl", "p.csv", "q.parquet") == (130, "", "")


def test_without_a_command_the_help_is_printed(run):
    status, out, err = run()
    assert (status, err) == (2, "")
    assert "Usage" in out


@pytest.fixture
def indexed(folder):
    """Write both samples with the index that pandas saves by default."""
    for name, sample in (("p", P), ("q", Q), ("z", P[:4])):
        pd.DataFrame(sample, columns=list("abc")).to_csv(folder / f"{name}_indexed.csv")


@pytest.mark.filterwarnings("default")
@pytest.mark.usefixtures("indexed")
def test_a_saved_index_is_left_out_and_reported(run):
    _, expected, _ = run("kl", "p.csv", "q.parquet", "--method", "kde")
    status, out, err = run("kl", "p_indexed.csv", "q_indexed.csv", "--method", "kde")
    assert (status, out) == (0, expected)
    assert err.count("\n") == 1
    assert err.startswith("warning: Columns that say which row it is")
    assert "a column without a name (row numbers)" in err
    status, out, _ = run("ratio", "p_indexed.csv", "q_indexed.csv", "--at", "z_indexed.csv", "--method", "kde")
    assert (status, len(out.splitlines())) == (0, 5)


@pytest.mark.usefixtures("indexed")
@pytest.mark.filterwarnings("ignore::vwkde.exceptions.OverlapWarning")
def test_a_column_that_is_named_is_used(run):
    status, out, err = run("kl", "p_indexed.csv", "q_indexed.csv", "--method", "kde", "--columns", ",a,b,c", "--json")
    assert (status, err) == (0, "")
    assert json.loads(out)["details"]["diagnostics"]["columns"] == 4
