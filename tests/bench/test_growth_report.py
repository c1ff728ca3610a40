"""What `vwkde bench growth` makes of its measurements: numbers, tables and a picture."""

from io import StringIO
from xml.etree import ElementTree

import pytest
from rich.console import Console

from vwkde.bench.growth import Run, Task
from vwkde.bench.growth.kinds import KINDS
from vwkde.bench.growth.picture import draw
from vwkde.bench.growth.scales import scale_of, short
from vwkde.bench.growth.summary import describe_kinds, summary
from vwkde.bench.growth.tables import tables

SVG = "{http://www.w3.org/2000/svg}"
SIZES = (1_000, 4_000, 16_000, 64_000)


def answer(method, rows, seed, off, seconds=1.0, memory=20.0, covers=True, warned=False, kind="ring"):
    """Return a run whose value is off by so many floors."""
    truth = KINDS[kind]().truth()
    value = truth.kl + off * truth.floor(rows)
    low, high = (0.0, None) if covers else (truth.kl + 1, truth.kl + 2)
    warnings = ("UserWarning",) if warned else ()
    return Run(Task(kind, method, rows, seed), seconds, memory, 300.0, value, low, high, warnings)


@pytest.fixture
def runs():
    """Two kinds, the second only with a few rows; one method stops early."""
    made = [
        answer(method, rows, seed, off=2.0 * (-1) ** seed, seconds=rows / 1e4, covers=method != "nn", kind=kind)
        for kind in ("ring", "mixed")
        for method in ("default", "nn")
        for rows in SIZES[: 4 if kind == "ring" else 2]
        for seed in range(2)
    ]
    over = Run(Task("ring", "kde", 16_000, 0), problem="over 300 s", over_limit=True)
    return [*made, answer("kde", 1_000, 0, off=0.5), answer("kde", 4_000, 0, off=0.5), over]


def test_repetitions_are_summed_up():
    group = [
        answer("nn", 1_000, 0, off=3.0, seconds=1.0, memory=5.0),
        answer("nn", 1_000, 1, off=-1.0, seconds=2.0, memory=9.0, covers=False),
        answer("nn", 1_000, 2, off=1.0, seconds=6.0, memory=7.0, covers=False, warned=True),
        Run(Task("ring", "nn", 1_000, 3), problem="ValueError: no"),
    ]
    (cell,) = summary(group)
    assert (cell.asked, cell.answered, cell.covered, cell.misled) == (4, 3, 1, 1)
    assert (cell.seconds, cell.memory) == (2.0, 9.0)
    assert cell.error == pytest.approx((11 / 3) ** 0.5)
    assert cell.bias == pytest.approx(1.0)
    assert cell.problems == ("ValueError: no",)


def test_a_size_without_an_answer_has_no_numbers():
    (cell,) = summary([Run(Task("ring", "nn", 1_000, 0), problem="over 300 s", over_limit=True)])
    assert (cell.answered, cell.seconds, cell.memory, cell.error) == (0, None, None, None)


def test_kinds_are_described_with_their_floors():
    described = describe_kinds(("gaussians",), (1_000,))["gaussians"]
    assert described["columns"] == 10
    assert described["kl"] == pytest.approx(1)
    assert described["floors"] == {"1000": pytest.approx(((2 + 6.389056 + 0.002) / 1_000) ** 0.5, rel=1e-6)}


def test_tables_fit_a_terminal_and_give_reasons(runs):
    console = Console(width=80, file=StringIO())
    for table in tables(summary(runs)):
        console.print(table)
    shown = console.file.getvalue()
    assert "…" not in shown
    assert "kde, 16,000 rows: over 300 s" in shown
    assert "Ring with three arcs, 3 columns: KL 0.233" in shown
    default = next(line for line in shown.splitlines() if "default" in line)
    assert [cell.strip() for cell in default.split("│")[2:-1]] == ["0.1", "0.4", "1.6", "6.4"]
    kde = next(line for line in shown.splitlines() if "kde " in line)
    assert [cell.strip() for cell in kde.split("│")[2:-1]] == ["1", "1", "–", "–"]
    intervals = shown[shown.index("95 % intervals") :]
    nn = next(line for line in intervals.splitlines() if "nn" in line)
    assert [cell.strip() for cell in nn.split("│")[2:-1]] == ["0 of 4", "0 of 4", "0 of 2", "0 of 2"]


def test_the_picture_has_a_panel_per_kind_and_measure_and_a_line_per_method(runs):
    drawn = ElementTree.fromstring(draw(summary(runs)))
    panels = [each for each in drawn.iter(f"{SVG}g") if each.get("transform")]
    assert len(panels) == 6
    lines = [each for panel in panels for each in panel.iter(f"{SVG}path")]
    assert len(lines) == 3 * 3 + 3 * 2
    assert sorted(line.get("d").count("L") for line in lines[:3]) == [1, 3, 3]  # kde stops after two sizes


def test_the_picture_marks_intervals_that_miss_the_truth(runs):
    circles = list(ElementTree.fromstring(draw(summary(runs))).iter(f"{SVG}circle"))
    hollow = [each.find(f"{SVG}title").text for each in circles if each.get("class") == "hollow"]
    assert len(hollow) == 6  # nn at every size of either kind, in the panels of errors
    assert all(text.startswith("nn") and "error / floor" in text for text in hollow)


def test_everything_in_the_picture_is_within_it(runs):
    drawn = ElementTree.fromstring(draw(summary(runs)))
    width, height = float(drawn.get("width")), float(drawn.get("height"))
    for group in (each for each in drawn.iter(f"{SVG}g") if each.get("transform")):
        left, top = map(float, group.get("transform").removeprefix("translate(").rstrip(")").split())
        for dot in group.iter(f"{SVG}circle"):
            assert 0 < left + float(dot.get("cx")) < width
            assert 0 < top + float(dot.get("cy")) < height


def test_the_picture_has_colours_for_light_and_dark_screens(runs):
    (style,) = ElementTree.fromstring(draw(summary(runs))).iter(f"{SVG}style")
    light, dark = style.text.split("@media (prefers-color-scheme:dark)")
    for place in range(3):
        rule = f".m{place} path{{stroke:"
        assert light.split(rule)[1][:7] != dark.split(rule)[1][:7]
    assert ".ground{fill:#ffffff}" in light
    assert ".ground{fill:#16191d}" in dark


def test_a_picture_without_any_answer_can_be_drawn():
    cells = summary([Run(Task("ring", "nn", 1_000, 0), problem="over 300 s", over_limit=True)])
    drawn = ElementTree.fromstring(draw(cells))
    assert not list(drawn.iter(f"{SVG}circle"))


def test_less_than_a_mebibyte_is_drawn_as_one():
    drawn = ElementTree.fromstring(draw(summary([answer("nn", 1_000, 0, 1.0, memory=0.0)])))
    titles = [each.text for each in drawn.iter(f"{SVG}title")]
    assert "nn, 1,000 rows: memory of the estimate, MiB 1" in titles


def test_scales_have_ticks_at_powers_of_ten():
    wide = scale_of([0.001, 1_000.0], 100)
    assert wide.ticks() == [0.001, 0.1, 10.0, 1_000.0]
    assert wide.place(1.0) == pytest.approx(50)
    assert wide.from_top(1_000.0) == pytest.approx(100 - wide.place(1_000.0))
    narrow = scale_of([0.4, 5.0], 100)
    assert narrow.ticks() == [1.0, 3.0]
    assert scale_of([7.0], 100).place(7.0) == pytest.approx(50)


@pytest.mark.parametrize(
    ("value", "text"), [(0.01, "0.01"), (250, "250"), (2_500, "2.5k"), (64_000, "64k"), (2e6, "2M")]
)
def test_ticks_are_short(value, text):
    assert short(value) == text
