"""Scenarios in which an estimate was confident and wrong, each with its truth, for `wrong_answers.py`."""

from functools import cache

from scenarios import copies, information, known_pairs, overlap, real_tables
from scenarios.scenario import Scenario


@cache
def all_scenarios() -> dict[str, Scenario]:
    """Return every scenario by its name, in the order of the items."""
    modules = (known_pairs, copies, information, overlap, real_tables)
    listed = sorted((scenario for module in modules for scenario in module.scenarios()), key=lambda each: each.item)
    by_name = {scenario.name: scenario for scenario in listed}
    if len(by_name) < len(listed):
        raise ValueError("Names of scenarios must be unique; rename those that are equal.")
    return by_name
