import json

import pytest

from support.work import double, fail
from vwkde._runtime import progress
from vwkde.reproduce.core.tasks import Outcome, Task, run_tasks, values_of, versions_used


def tasks(*numbers):
    return [Task(f"double/{n}", double, (n,)) for n in numbers]


@pytest.mark.parametrize("jobs", [1, 2])
def test_outcomes_come_by_name(tmp_path, jobs):
    outcomes = run_tasks(tasks(1, 2, 3), tmp_path / "journal", "stage", jobs)
    assert {name: outcome.value for name, outcome in outcomes.items()} == {"double/1": 2, "double/2": 4, "double/3": 6}


def test_a_run_goes_on_where_it_stopped(tmp_path):
    journal = tmp_path / "journal"
    run_tasks(tasks(1, 2), journal, "stage", 1)
    lines = journal.read_text().splitlines()
    journal.write_text("\n".join([*lines[:2], '{"task": "double/2", "val']))  # cut off while being written
    marked = json.loads(lines[1]) | {"value": "kept"}
    journal.write_text(journal.read_text().replace(lines[1], json.dumps(marked)))
    outcomes = run_tasks(tasks(1, 2, 3), journal, "stage", 1)
    assert [outcome.value for outcome in outcomes.values()] == ["kept", 4, 6]
    again = run_tasks(tasks(1, 2, 3), journal, "stage", 1)
    assert again == outcomes
    (used,) = versions_used(journal)
    assert {"vwkde", "python", "numpy"} <= set(used)


def test_a_failure_costs_nothing_else_and_is_tried_again(tmp_path):
    journal = tmp_path / "journal"
    outcomes = run_tasks([*tasks(1), Task("bad", fail, (7,)), *tasks(2)], journal, "stage", 1)
    assert outcomes["bad"].error == "ValueError: no 7"
    assert outcomes["double/2"].value == 4
    assert run_tasks([Task("bad", double, (7,))], journal, "stage", 1)["bad"].value == 14


def test_progress_is_told(tmp_path):
    heard = []
    with progress.listening(lambda *what: heard.append(what)):
        run_tasks(tasks(1, 2), tmp_path / "journal", "fig", 1)
    assert heard == [("fig", 1, 2), ("fig", 2, 2)]


def test_a_journal_of_another_version_is_refused(tmp_path):
    journal = tmp_path / "journal"
    journal.write_text('{"versions": {"vwkde": "0.0.1"}}\n')
    with pytest.raises(ValueError, match="choose another folder"):
        run_tasks(tasks(1), journal, "stage", 1)


def test_values_are_there_unless_a_task_failed():
    done = {"one": Outcome(1.0), "two": Outcome([2])}
    assert values_of(done) == {"one": 1.0, "two": [2]}
    with pytest.raises(
        RuntimeError,
        match=r"1 of 3 tasks failed; the first is bad: ValueError: why\. The results of the others",
    ):
        values_of(done | {"bad": Outcome(error="ValueError: why")})
