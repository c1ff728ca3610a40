"""The zoo: its log ratios are exact, its truths and floors are true, and anything that takes two samples can enter."""

import importlib
import json
import sys
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from threadpoolctl import threadpool_limits

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
sys.path.append(str(BENCHMARKS))  # its modules are found by name; those of the tests go first
columns = importlib.import_module("zoo_problems.columns")
cores = importlib.import_module("zoo_problems.cores")
densities = importlib.import_module("zoo_problems.densities")
entrants = importlib.import_module("zoo_runs.entrants")
growth = importlib.import_module("zoo_runs.growth")
making = importlib.import_module("zoo_problems.making")
marginals = importlib.import_module("zoo_problems.marginals")
oracle = importlib.import_module("zoo_runs.oracle")
peers = importlib.import_module("peers")
questions = importlib.import_module("zoo_runs.questions")
running = importlib.import_module("running")
shapes = importlib.import_module("zoo_problems.shapes")
summary = importlib.import_module("zoo_runs.summary")
tables = importlib.import_module("zoo_runs.tables")
tasks = importlib.import_module("zoo_runs.tasks")
tilts = importlib.import_module("zoo_problems.tilts")
truths = importlib.import_module("zoo_problems.truths")
zoo = importlib.import_module("zoo")

SOME = range(500, 540)
TABLE_ROWS = 5
"""A seed whose rows are those of a table, each used once."""


@pytest.mark.parametrize("seed", [0, 1, TABLE_ROWS])
def test_a_seed_is_a_problem(seed):
    making.problem.cache_clear()
    one = making.problem(seed)
    making.problem.cache_clear()
    other = making.problem(seed)
    assert one.describe() == other.describe()
    for first, second in zip(one.draw(3, 20), other.draw(3, 20), strict=True):
        np.testing.assert_array_equal(first.x, second.x)
        np.testing.assert_array_equal(first.log_ratio, second.log_ratio)
    assert one.truth() == other.truth()
    assert not np.array_equal(one.sample(3)[0], one.sample(4)[0])
    for first, second in zip(one.draw(3, 0)[:2], one.draw(3, 20)[:2], strict=True):
        np.testing.assert_array_equal(first.x, second.x)
    assert [len(x) for x in one.sample()] == list(one.rows)
    assert one.sample()[0].shape[1] == one.columns


def deviations(core, rows=4_000):
    """Return how far the mean of r over Q is from one, and that of log r over P from KL, in standard errors."""
    drawn = core.sample((rows, rows), 0, np.random.default_rng(0))
    ratio, log_ratio = np.exp(drawn.q.log_ratio), drawn.p.log_ratio
    references = core.references()
    kl, chi2 = (truths.truth(kind, references, (rows, rows)) for kind in ("kl", "chi2"))
    scatter = np.hypot(ratio.std() / np.sqrt(rows), np.sqrt(chi2.value / core.reference_rows))
    of_kl = np.hypot(log_ratio.std() / np.sqrt(rows), kl.error)
    return (ratio.mean() - 1) / scatter, (log_ratio.mean() - kl.value) / of_kl


@pytest.fixture(scope="module")
def drawn_cores():
    """Problems before their columns are dressed, without those whose truth needs no reference."""
    problems = [making.problem(seed) for seed in SOME]
    chosen = [one for one in problems if one.base != "table rows" and one.change != "none"]
    return [replace(one.core, reference_rows=40_000) for one in chosen]


def test_log_ratios_are_exact(drawn_cores):
    """Q's mean ratio is one, and P's mean log ratio is KL, in every problem and not too well in all of them."""
    found = np.array([deviations(core) for core in drawn_cores])
    assert len(found) > 30
    assert np.abs(found).max() < 4
    assert (np.sqrt(np.mean(found**2, axis=0)) > 0.6).all()
    assert (np.sqrt(np.mean(found**2, axis=0)) < 1.4).all()


def test_log_ratios_that_are_a_quarter_off_are_seen(drawn_cores):
    class Off:
        def __init__(self, core):
            self.core, self.reference_rows = core, core.reference_rows

        def references(self):
            return self.core.references()

        def sample(self, *arguments):
            drawn = self.core.sample(*arguments)
            return cores.Sample(*(cores.Rows(rows.x, 1.25 * rows.log_ratio) for rows in drawn))

    found = np.array([deviations(Off(core)) for core in drawn_cores[:12]])
    assert (np.sqrt(np.mean(found**2, axis=0)) > 2).all()


def test_what_knows_the_ratio_attains_the_floor(drawn_cores):
    """In one step from the true ratio, errors in units of the floor have mean zero, variance one, and normal tails."""
    rows, found, covered = (300, 200), [], []
    for core in drawn_cores:
        truth = truths.truth("kl", core.references(), rows)
        for repetition in range(10):
            answer = oracle.Oracle(core.sample(rows, 0, np.random.default_rng(repetition))).divergence("kl")
            found.append((answer.value - truth.value) / truth.floor)
            covered.append(answer.interval[0] <= truth.value <= answer.interval[1])
    within = 4 / np.sqrt(len(found))
    assert np.mean(found) == pytest.approx(0, abs=within)
    assert np.mean(np.square(found)) == pytest.approx(1, abs=within * np.sqrt(2))
    assert np.mean(covered) == pytest.approx(0.95, abs=0.04)


def test_rows_of_a_table_are_used_once_and_tell_the_truth_of_the_table():
    one = making.problem(TABLE_ROWS)
    core = cores.TableRows(np.arange(5_000.0)[:, None], lambda x: np.sin(x[:, 0]) / 2, (1.5, -0.5))
    drawn = core.sample((600, 700), 200, np.random.default_rng(0))
    chosen = np.concatenate([rows.x[:, 0] for rows in drawn])
    assert [len(rows.x) for rows in drawn] == [600, 700, 200, 200]
    assert len(np.unique(chosen)) == 1_700
    assert one.base == "table rows"
    assert one.truth().error == 0
    p, q = (np.exp(power * np.sin(np.arange(5_000.0)) / 2) for power in (1.5, -0.5))
    p, q = p / p.sum(), q / q.sum()
    (reference,) = core.references()
    assert truths.truth("kl", [reference], (600, 700)).value == pytest.approx(np.sum(p * np.log(p / q)), rel=1e-9)
    np.testing.assert_allclose(drawn.p.log_ratio, np.log(p / q)[drawn.p.x[:, 0].astype(int)], rtol=1e-9)


def gaussian_pair(distance=0.8, rows=400_000):
    p, q = (densities.Elliptical(np.array([mean, 0.0]), np.eye(2)) for mean in (distance, 0.0))
    return cores.DensityPair(p, q, rows, (0,))


def test_truths_of_gaussians_are_the_closed_forms():
    squared, n, m = 0.64, 100, 300
    references = gaussian_pair().references()
    closed = {
        "kl": squared / 2,
        "reverse-kl": squared / 2,
        "chi2": np.expm1(squared),
        "hellinger": np.sqrt(-np.expm1(-squared / 8)),
        "renyi": squared / 4,
        "total-variation": 2 * stats.norm.cdf(0.4) - 1,
    }
    for kind, value in closed.items():
        found = truths.truth(kind, references, (n, m))
        assert found.error < 0.01 * value
        assert found.value == pytest.approx(value, abs=4 * found.error)
    quadratic = (1 / n + 1 / m) ** 2 / 2
    floor = np.sqrt(squared / n + np.expm1(squared) / m + quadratic)
    assert truths.truth("kl", references, (n, m)).floor == pytest.approx(floor, rel=0.02)
    bayes = stats.norm.cdf(0.4) * stats.norm.cdf(-0.4)
    assert truths.truth("total-variation", references, (n, m)).floor == pytest.approx(
        np.sqrt(bayes * (1 / n + 1 / m)), rel=0.02
    )


def test_truths_of_categories_are_sums_over_them():
    """Q is the base of three categories, and P is tilted: everything can be enumerated."""
    base, tilt = np.array([0.5, 0.3, 0.2]), np.array([-0.5, 0.1, 0.5])
    q, p = base, base * np.exp(1.5 * tilt) / (base @ np.exp(1.5 * tilt))
    core = cores.Tilted(
        lambda rows, random: random.choice(3, rows, p=base)[:, None].astype(float),
        lambda x: tilt[x[:, 0].astype(int)],
        (1.5, 0.0),
        400_000,
        (1,),
    )
    u, middle, rows = np.log(p / q), (p + q) / 2, (200, 500)
    closed = {
        "kl": (p @ u, p @ u**2 - (p @ u) ** 2, q @ np.exp(u) ** 2 - 1, 1.0),
        "reverse-kl": (-q @ u, p @ np.exp(-u) ** 2 - 1, q @ u**2 - (q @ u) ** 2, 1.0),
        "jensen-shannon": (
            0.5 * (p @ np.log(p / middle) + q @ np.log(q / middle)),
            0.25 * (p @ np.log(p / middle) ** 2 - (p @ np.log(p / middle)) ** 2),
            0.25 * (q @ np.log(q / middle) ** 2 - (q @ np.log(q / middle)) ** 2),
            0.25,
        ),
    }
    references = core.references()
    for kind, (value, on_p, on_q, curvature) in closed.items():
        found = truths.truth(kind, references, rows)
        assert found.value == pytest.approx(value, abs=4 * found.error)
        floor = np.sqrt(on_p / rows[0] + on_q / rows[1] + 0.5 * (curvature * sum(1 / n for n in rows)) ** 2)
        assert found.floor == pytest.approx(floor, rel=0.02)
    drawn = core.sample((20_000, 20_000), 0, np.random.default_rng(2))
    for rows_drawn, shares in ((drawn.p, p), (drawn.q, q)):
        counts = np.bincount(rows_drawn.x[:, 0].astype(int))
        assert stats.chisquare(counts, 20_000 * shares).pvalue > 1e-3
        np.testing.assert_allclose(rows_drawn.log_ratio, u[rows_drawn.x[:, 0].astype(int)], atol=0.01)


def test_equal_densities_leave_the_scatter_of_one_number():
    reference = cores.Reference(np.zeros(4), np.full(4, 0.25), np.full(4, 0.25))
    assert truths.truth("kl", [reference], (100, 50)) == pytest.approx((0, 0.03 / np.sqrt(2), 0))
    assert truths.truth("hellinger", [reference], (100, 50)).floor == pytest.approx(np.sqrt(0.25 * 0.03 / np.sqrt(2)))
    assert truths.truth("total-variation", [reference], (100, 50)).floor == pytest.approx(np.sqrt(0.25 * 0.03))


def test_densities_are_those_of_scipy():
    random = np.random.default_rng(0)
    root, mean, x = densities.random_root(3, random), random.normal(size=3), random.normal(size=(50, 3))
    gaussian, student = densities.Elliptical(mean, root), densities.Elliptical(mean, root, 4.0)
    expected = stats.multivariate_normal(mean, root @ root.T).logpdf(x)
    np.testing.assert_allclose(gaussian.log_density(x), expected, rtol=1e-10)
    np.testing.assert_allclose(student.log_density(x), stats.multivariate_t(mean, root @ root.T, 4).logpdf(x))
    matrix, shift = random.normal(size=(3, 3)), random.normal(size=3)
    moved = stats.multivariate_normal(matrix @ mean + shift, matrix @ root @ root.T @ matrix.T)
    np.testing.assert_allclose(densities.Affine(gaussian, matrix, shift).log_density(x), moved.logpdf(x), rtol=1e-8)
    mixed = densities.Mixture((gaussian, student), (0.3, 0.7))
    both = 0.3 * np.exp(gaussian.log_density(x)) + 0.7 * np.exp(student.log_density(x))
    np.testing.assert_allclose(np.exp(mixed.log_density(x)), both)


@pytest.mark.parametrize("name", marginals.MONOTONE)
def test_warps_are_one_to_one(name):
    assert (np.diff(marginals.MONOTONE[name](np.linspace(-30, 30, 4_001))) > 0).all()


def test_a_tilt_that_cancels_is_none_at_all():
    """Squares of the only column with opposite signs leave rounding, which must not be scaled up to a ratio."""
    random = np.random.default_rng(0)
    pilot = random.standard_normal((500, 1))
    ranges = [np.ptp(tilts.random_tilt("quadratic", pilot, np.random.default_rng(seed))(pilot)) for seed in range(60)]
    assert 0.0 in ranges
    assert all(each == 0 or each > 0.9 for each in ranges)
    assert making.problem(1068).change != "tilt: quadratic"


def test_columns_look_like_life():
    random = np.random.default_rng(0)
    x = random.normal(size=(2_000, 8))
    assert (np.ptp(columns.categories(x, random)(x), axis=0) == 1).all()
    assert set(columns.categories(x, random)(x).ravel()) == {0, 1}
    assert (columns.counts(x, random)(x) % 1 == 0).all()
    share = np.mean(columns.zeros(x, random)(x) == 0, axis=0)
    assert ((share > 0.15) & (share < 0.95)).all()
    assert all(len(np.unique(column)) < 120 for column in columns.rounded(x, random)(x).T)
    copied = columns.copies(x, 20, random)(x, random)
    correlation = np.abs(np.corrcoef(copied, rowvar=False)[8:, :8]).max(axis=1)
    assert (correlation > 0.98).all()
    noisy = columns.noise(x, 20, random)(x, random)
    assert np.abs(np.corrcoef(noisy, rowvar=False)[8:, :8]).max() < 0.12


def test_sizes_are_those_that_the_page_tells():
    random = np.random.default_rng(0)
    rows = np.array([shapes.random_rows(random) for _ in range(3_000)])
    assert rows.min() == 30
    assert 15_000 < rows.max() <= 20_000
    assert np.mean(rows.max(axis=1) > 5_000) == pytest.approx(0.05, abs=0.02)
    assert (rows.max(axis=1) / rows.min(axis=1) < 20.5).all()
    assert np.mean(rows[:, 0] != rows[:, 1]) == pytest.approx(1 / 3, abs=0.05)
    counts = np.array([shapes.random_columns(random) for _ in range(3_000)])
    assert set(counts) == set(range(1, 61))
    aims = np.array([shapes.random_target(random) for _ in range(3_000)])
    assert np.mean(aims == 0) == pytest.approx(0.04, abs=0.015)
    assert aims.max() <= 2.2


def test_true_ratios_answer_every_question():
    pair = gaussian_pair()
    drawn = pair.sample((3_000, 3_000), 2_000, np.random.default_rng(0))

    class Oracle:
        log_ratio = staticmethod(pair.log_ratio)

        def importance_weights(self):
            return np.exp(drawn.q.log_ratio)

    posterior = questions.ask("posterior", False, Oracle(), drawn)
    assert posterior["value"] == 0
    weights = questions.ask("weights", False, Oracle(), drawn)
    assert weights["effective"] == pytest.approx(1)
    assert 0 < abs(weights["value"] - 0.32) < 0.1
    blind = questions.excess_log_loss(lambda x: np.zeros(len(x)), drawn.fresh_p, drawn.fresh_q)
    information = truths.truth("jensen-shannon", pair.references(), (1, 1)).value
    assert blind == pytest.approx(information, rel=0.1)
    with pytest.raises(entrants.NotAskedError):
        questions.ask("posterior", True, 0.3, drawn)


@pytest.mark.parametrize("kind", truths.KINDS)
def test_what_knows_the_ratio_answers_every_divergence(kind):
    pair, rows = gaussian_pair(0.4, 200_000), (3_000, 3_000)
    truth = truths.truth(kind, pair.references(), rows)
    samples = [pair.sample(rows, 0, np.random.default_rng(seed)) for seed in range(40)]
    answers = [oracle.Oracle(drawn).divergence(kind) for drawn in samples]
    errors = np.array([answer.value - truth.value for answer in answers]) / truth.floor
    assert np.mean(errors) == pytest.approx(0, abs=4 / np.sqrt(40))
    assert np.mean(errors**2) == pytest.approx(1, abs=4 * np.sqrt(2 / 40))
    assert np.ptp(answers[0].interval) == pytest.approx(2 * 1.96 * truth.floor, rel=0.1)


@pytest.mark.parametrize("name", entrants.PEERS)
def test_peers_estimate_the_divergence(name):
    drawn = gaussian_pair().sample((1_500, 1_500), 0, np.random.default_rng(1))
    with threadpool_limits(1):  # boosting waits for its threads where others use the cores
        fitted = entrants.fit(name, drawn.p.x, drawn.q.x)
    answer = questions.ask("kl", True, fitted, drawn)
    within = 0.25 if name == "neighbours-1" else 0.12
    assert answer["value"] == pytest.approx(0.32, abs=within)
    if isinstance(fitted, peers.Fitted):
        assert fitted.log_ratio(np.array([[2.0, 0.0], [-2.0, 0.0]])) @ [1, -1] == pytest.approx(3.2, abs=1.3)


FUNCTIONS = """
from types import SimpleNamespace


def half(P, Q):
    return 0.5


def by_kind(P, Q, kind):
    return SimpleNamespace(value=len(kind), interval=(0, float("inf")))


def wrong(P, Q):
    raise ValueError("no")
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    (tmp_path / "functions_of_mine.py").write_text(FUNCTIONS)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def run(monkeypatch, *words):
    """Run the command in this process, and return its tasks."""
    done = []

    def run_tasks(function, tasks, *_):
        done.extend(tasks)
        return map(function, tasks)

    monkeypatch.setattr(zoo, "run_tasks", run_tasks)
    monkeypatch.setattr(sys, "argv", ["", *words])
    zoo.main()
    return done


def test_any_function_can_enter_and_a_run_goes_on(mine, monkeypatch, capsys):
    file = mine / "answers.json"
    names = [f"functions_of_mine:{name}" for name in ("half", "by_kind", "wrong")]
    words = ["--problems", "0", "2", "--json", str(file), "--estimators", *names, "--questions", "kl", "renyi"]
    assert len(run(monkeypatch, *words)) == 2 * (1 + 3)
    assert run(monkeypatch, *words) == []
    assert len(run(monkeypatch, *words, "--repetitions", "2")) == 2 * 3
    answers = {
        (record["estimator"].split(":")[1], question): answer
        for record in json.loads(file.read_text())["records"]
        for question, answer in record.get("answers", {}).items()
    }
    assert answers["half", "kl"]["value"] == 0.5
    assert "low" not in answers["half", "kl"]
    assert ("half", "renyi") not in answers
    assert answers["by_kind", "renyi"]["value"] == 5
    assert answers["by_kind", "kl"]["high"] is None
    assert answers["wrong", "kl"]["words"] == "no"
    shown = capsys.readouterr().out
    assert "kl: RMSE/floor" in shown
    assert "renyi: RMSE/floor" in shown
    run(monkeypatch, "--summary", str(file), "--markdown")
    assert "| functions_of_mine:half" in capsys.readouterr().out


def test_samples_may_have_other_numbers_of_rows(mine, monkeypatch, capsys):
    file = mine / "answers.json"
    words = ["--problems", "0", "1", "--json", str(file), "--estimators", "functions_of_mine:half"]
    run(monkeypatch, *words, "--rows", "70")
    (description,) = [r["description"] for r in json.loads(file.read_text())["records"] if "description" in r]
    assert description["rows"] == [70, 70]
    assert [len(x) for x in making.problem(0).with_rows(70).sample()] == [70, 70]
    floors = [making.problem(0).with_rows(rows).truth().floor for rows in (70, 280)]
    assert floors[0] == pytest.approx(2 * floors[1], rel=0.05)
    (more,) = {task[-1] for task in run(monkeypatch, *words, "--rows", "70", "280")}
    assert more == 280
    assert "what more rows bring" in capsys.readouterr().out


def test_a_table_that_is_used_once_has_no_more_rows_than_it_has():
    one = making.problem(TABLE_ROWS).with_rows(10**6)
    assert one.rows == one.core.most_rows()
    assert [len(x) for x in one.sample()] == list(one.rows)


@pytest.mark.parametrize("name", ["nobody", "functions_of_mine:nobody", "no_module:f"])
def test_unknown_estimators_are_refused(name, mine):
    assert mine.is_dir()
    with pytest.raises(ValueError, match=f"Got '{name}'"):
        entrants.names_of([name])
    with pytest.raises(ValueError, match="A question must be one of"):
        questions.check_questions(["entropy"])


def test_all_stands_for_the_default_the_methods_and_the_peers():
    names = entrants.names_of(["all", "default", "gaussian-guide"])
    assert names[0] == "default"
    assert {"vwkde-mb", "nn", "boosted-odds", "oracle", "gaussian-guide"} < set(names)
    assert len(names) == len(set(names))


def test_the_default_and_a_guide_answer_what_is_asked():
    drawn = gaussian_pair().sample((200, 200), 100, np.random.default_rng(0))
    assert tasks.answers("oracle", ("kl", "posterior"), drawn).keys() == {"kl"}
    for name in ("default", "gaussian-guide"):
        answers = tasks.answers(name, ("kl", "renyi", "posterior", "weights"), drawn)
        assert answers["kl"]["low"] < 0.32 < answers["kl"]["high"]
        assert answers["renyi"]["value"] == pytest.approx(0.16, abs=0.1)
        assert -0.05 < answers["posterior"]["value"] < 0.05
        assert answers["weights"]["value"] == pytest.approx(0.32, abs=0.25)


def store_of(offsets, floor=0.1, truth=1.0, width=0.2):
    """Return the answers of an estimator that is off by these numbers of floors, a list for each problem."""
    records = []
    for seed, problem_offsets in enumerate(offsets):
        made_of = {"base": "b", "change": "c", "columns_kind": "plain", "rows": [40, 400], "columns": 1 + 9 * seed}
        truths_here = {question: [truth, floor, 0.0] for question in questions.QUESTIONS}
        records.append({"problem": seed, "description": made_of | {"seed": seed, "truths": truths_here}})
        for repetition, offset in enumerate(problem_offsets):
            value = truth + floor * offset
            answer = {"value": value, "low": value - width / 2, "high": value + width / 2, "seconds": 2.0}
            record = {"problem": seed, "repetition": repetition, "estimator": "fake", "warned": False, "not_asked": []}
            records.append(record | {"answers": {"kl": answer}})
    return {"records": records}


def test_the_summary_tells_known_errors():
    store = store_of([[0.5, 0.5], [-2, -2], [3, -4]])
    measured = summary.per_problem(store, "kl")["fake"]
    assert [one["error"] for one in measured.values()] == pytest.approx([0.5, 2, np.sqrt(12.5)])
    pooled = summary.pooled(measured.values())
    assert pooled["geometric mean"] == pytest.approx(np.cbrt(np.sqrt(12.5)))
    assert pooled["median"] == pytest.approx(2)
    assert pooled["worst"] == pytest.approx(np.sqrt(12.5))
    assert pooled["bias"] == pytest.approx(np.mean([0.5, -2, -0.5]))
    assert pooled["coverage"] == pytest.approx(1 / 3)
    assert pooled["coverage ≥ 90 %"] == pytest.approx(1 / 3)
    assert pooled["misleads"] == pytest.approx(2 / 3)
    assert pooled["width"] == pytest.approx(0.2 / (2 * 1.96 * 0.1))
    assert pooled["seconds"] == 2
    assert pooled["problems"] == 3


def test_answers_that_do_not_come_and_truths_that_are_not_clear_are_counted():
    store = store_of([[1], [1], [1]])
    store["records"][1]["answers"]["kl"] = {"error": "ValueError", "words": "", "seconds": 1.0}
    store["records"][2]["description"]["truths"]["kl"][2] = 0.03
    pooled = summary.pooled(summary.per_problem(store, "kl")["fake"].values())
    assert pooled["problems"] == 2
    assert pooled["answered"] == 0.5
    assert pooled["geometric mean"] == pytest.approx(1)
    store["records"][3]["answers"]["kl"]["high"] = None
    store["records"][5]["answers"]["kl"]["high"] = None
    assert summary.summary(store, ["kl"])["kl"]["fake"]["width"] is None


def test_files_are_compared_on_the_problems_that_both_have():
    one, other = store_of([[1], [1], [1]]), store_of([[2], [2]])
    table = next(iter(tables.tables({"before": one, "after": other})))
    shown = {column.header: list(column.cells) for column in table.columns}
    assert shown["estimator"] == ["fake (before)", "fake (after)"]
    assert shown["problems"] == ["2", "2"]
    assert shown["median"] == ["1.00", "2.00"]


def sized_store(offsets, rows):
    """Return the answers to problems with so many rows."""
    records = store_of(offsets)["records"]
    for record in records:
        record["asked_rows"] = rows
        if "description" in record:
            record["description"]["rows"] = [rows, rows]
    return {"records": records}


def test_growth_compares_the_same_problems_with_few_rows_and_with_many():
    few, many = sized_store([[1, -1], [2, -2], [1, 1]], 1_000), sized_store([[3, -3], [2, -2], [1, 1]], 16_000)
    many["records"][6]["description"]["rows"] = [1_000, 1_000]  # a table that has no more rows
    both = summary.by_rows({"": {"records": many["records"] + few["records"]}})
    assert list(both) == ["1,000 rows", "16,000 rows"]
    (table,) = growth.growth_tables(both)
    shown = {column.header: list(column.cells) for column in table.columns}
    assert shown["kind"][:2] == ["all", "base: b"]
    assert shown["problems"][0] == "2"
    assert shown["geometric mean, 1,000 rows"][0] == f"{np.sqrt(2):.2f}"
    assert shown["geometric mean, 16,000 rows"][0] == f"{np.sqrt(6):.2f}"
    assert shown["ratio"][0] == f"{np.sqrt(3):.2f}"
    assert shown["±"][0] == f"{np.sqrt(3):.2f}"
    assert shown["coverage, 1,000 rows"][0] == "50%"
    assert list(growth.growth_tables(summary.by_rows({"": few}))) == []


CRASHING = """
import os


def run(task):
    if task == (1,):
        os._exit(1)
    return {"task": task[0]}
"""


def test_a_task_that_ends_its_process_does_not_end_the_run(tmp_path, monkeypatch):
    (tmp_path / "crashing_tasks.py").write_text(CRASHING)
    monkeypatch.syspath_prepend(tmp_path)
    function = importlib.import_module("crashing_tasks").run
    options = Namespace(jobs=1, minutes=np.inf)
    records = list(running.run_tasks(function, [(0,), (1,), (2,)], options, lambda task: {"crashed": task[0]}))
    assert records == [{"task": 0}, {"crashed": 1}, {"task": 2}] or records == [
        {"task": 0},
        {"task": 2},
        {"crashed": 1},
    ]
