"""What README and the documentation show is run here: Python, shell commands, links, and figures from results."""

import json
import re
import shlex
import sys
import tomllib
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
import typer
import yaml
from PIL import Image
from typer.testing import CliRunner

import vwkde
from vwkde.cli.main import app
from vwkde.inspection import make_surfaces

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "benchmarks"))  # its scripts, and the page on the zoo, import modules there by name
BUILT = ("docs/_build/", "docs/examples/", "docs/reference/generated/", "docs/reference/command-line.md")
"""What `make docs` writes."""
NAMES = [str(path.relative_to(ROOT)) for path in (*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md")))]
PAGES = {name: (ROOT / name).read_text(encoding="utf-8") for name in NAMES if not name.startswith(BUILT)}
WITH_FILES = {"docs/getting-started.md", "docs/guide/tables.md"}
"""Pages whose commands read the files that their Python writes."""
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def module_at(*path):
    """Return a module that is not part of the package."""
    place = spec_from_file_location(Path(path[-1]).stem, ROOT.joinpath(*path))
    module = sys.modules[place.name] = module_from_spec(place)  # dataclasses look for their module there
    place.loader.exec_module(module)
    return module


OUTPUTS = module_at("docs", "outputs.py")


def blocks(page):
    """Return the fenced blocks of a page, as pairs of language and text."""
    return re.findall(r"^```(\w+)\n(.*?)^```", PAGES[page], flags=re.DOTALL | re.MULTILINE)


def pages_with(*languages):
    return [page for page in PAGES if any(language in languages for language, _ in blocks(page))]


@pytest.mark.parametrize("page", pages_with("python"))
def test_python_runs_in_order(page, tmp_path, monkeypatch):
    """The output below each snippet is compared: words must agree, and numbers within five percent or 0.01.

    An ellipsis as the last line stands for the rest. Files that a page writes must do for its commands.
    `python docs/outputs.py PAGE` writes the outputs and the pictures.
    """
    monkeypatch.chdir(tmp_path)
    names = {}
    for snippet in OUTPUTS.snippets(PAGES[page]):
        try:
            printed, shown = OUTPUTS.run(snippet.code, names)
        except ImportError as error:
            if "pip install 'vwkde[" not in str(error):
                raise
            pytest.skip(str(error))
        assert all(0 < each.value < 4 for each in shown if isinstance(each, vwkde.Estimate))
        assert_same_output(snippet.output, OUTPUTS.cut_like(printed, snippet.output))
        assert_pictures_are_current(snippet, (ROOT / page).parent)
    if page in WITH_FILES:
        run_commands("".join(text for language, text in blocks(page) if language == "console"), tmp_path)


def assert_same_output(shown, printed):
    """Raise unless words agree, and numbers nearly: machines differ in the last digits, and a few of these matter."""
    words, numbers = zip(*((words_of(text), numbers_of(text)) for text in (shown, printed)), strict=True)
    assert words[0] == words[1]
    np.testing.assert_allclose(*numbers, rtol=0.05, atol=0.01)


def words_of(text):
    """Return a text without its numbers, and without the spaces that align them."""
    return re.sub(r" +", " ", NUMBER.sub("#", text)).replace("[ ", "[")


def numbers_of(text):
    return [float(each) for each in NUMBER.findall(text)]


def assert_pictures_are_current(snippet, folder):
    """Raise unless each figure that the snippet drew is below it, drawn by the snippets as they are now."""
    figures = len(plt.get_fignums())
    plt.close("all")
    assert len(snippet.pictures) == figures, snippet.code
    for path in snippet.pictures:
        with Image.open(folder / path) as image:
            assert image.text[OUTPUTS.MADE_FROM] == snippet.digest, f"{path} is old: run docs/outputs.py"


def test_an_old_output_is_noticed():
    assert_same_output("kl = 0.204 nats\n", "kl = 0.203 nats\n")
    with pytest.raises(AssertionError):
        assert_same_output("kl = 0.204 nats\n", "kl = 0.254 nats\n")
    with pytest.raises(AssertionError):
        assert_same_output("", "kl = 0.204 nats\n")


def commands_in(text):
    """Return the commands of a block, without their comments."""
    return [words for words in (shlex.split(line, comments=True) for line in text.splitlines()) if words]


def shell_lines(page):
    """Return the commands of a page."""
    return [words for language, text in blocks(page) if language == "console" for words in commands_in(text)]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Stand in for the files that commands of the pages name."""
    from vwkde.inspection.data.images import encode_png

    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    for name in ("today", "reference", "new"):
        np.savetxt(f"{name}.csv", random.normal(size=(60, 2)), delimiter=",", header="a,b", comments="")
    pixels = np.rint(255 * make_surfaces("brushed", n_good=28, n_bad=1, size=128).images).astype(np.uint8)
    for folder, chosen in (("good", pixels[:22]), ("more-good", pixels[22:26]), ("new", pixels[26:])):
        Path(folder).mkdir()
        for place, image in enumerate(chosen):
            Path(folder, f"{place}.png").write_bytes(encode_png(image))
    return tmp_path


@pytest.mark.parametrize("page", [page for page in pages_with("console") if page not in WITH_FILES])
def test_shell_commands_run(page, files):
    run_commands("".join(text for language, text in blocks(page) if language == "console"), files)


def run_commands(text, folder):
    """Check the commands of a block, and run those of vwkde."""
    for words in commands_in(text):
        check_command(words)
        if words[0] == "vwkde":
            expected = 1 if words[1:3] == ["inspect", "check"] else 0  # one of the new images has a defect
            if {"demo", "--dask"} & set(words):  # these have tests of their own
                words, expected = [*words, "--help"], 0
            result = CliRunner().invoke(app, words[1:])
            assert result.exit_code == expected, f"{words}: {result.output}"
            if "--help" in words:
                continue
            written = [words[place + 1] for place, word in enumerate(words) if word == "-o"]
            assert all((folder / name).exists() for name in written)


def check_command(words):
    """Refuse commands that do not exist, and options that they do not have."""
    program, first = words[:2]
    if program == "make":
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
        assert first in targets
    elif program == "python" and first == "-m":
        assert find_spec(f"{words[2]}.__main__"), words
    elif program == "python":
        assert (ROOT / first).is_file(), words
    elif program == "pip":
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
        asked = re.fullmatch(r"(?:vwkde|\.)\[(.*)\]", words[-1])
        assert asked, words
        assert set(asked[1].split(",")) <= set(extras)
    else:
        assert program == "vwkde", f"{words}: tell check_command how to check this program"
        check_arguments(words)


def check_arguments(words):
    command, rest = typer.main.get_command(app), words[1:]
    while hasattr(command, "commands") and not rest[0].startswith("-"):
        if rest[0] not in command.commands and hasattr(command, "default"):  # a command that need not be named
            rest = [command.default, *rest]
        assert rest[0] in command.commands, words
        command, rest = command.commands[rest[0]], rest[1:]
        if not rest:
            return
    known = {name for parameter in command.params for name in parameter.opts} | {"--help"}
    assert {word for word in rest if word.startswith("-")} <= known, words


@pytest.mark.parametrize("page", PAGES)
def test_commands_in_the_text_exist(page):
    text = re.sub(r"^```.*?^```", "", PAGES[page], flags=re.DOTALL | re.MULTILINE)
    inline = [code.split() for code in re.findall(r"`([^`\n]+)`", text)]
    for words in inline:
        if len(words) > 1 and words[0] in ("vwkde", "make", "python") and words[1].islower():
            check_command(words)


def links(page):
    inside = re.findall(r"\]\(([^)\s]+)\)", PAGES[page])
    return [link for link in inside if "://" not in link]


@pytest.mark.parametrize("page", [page for page in PAGES if links(page)])
def test_links_lead_somewhere(page):
    built = "reference/command-line.md"
    broken = [link for link in links(page) if not ((ROOT / page).parent / link.split("#")[0]).exists()]
    assert [link for link in broken if not built.endswith(link)] == []


def test_all_public_names_have_a_place_in_the_reference():
    page = (ROOT / "docs" / "reference" / "python.rst").read_text()
    assert {line.strip() for line in page.splitlines()} >= set(vwkde.__all__)


def test_the_page_of_the_command_line_has_every_command(tmp_path):
    module_at("docs", "command_page.py").write_page(tmp_path / "page.md")
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    titles = re.findall(r"^## (.*)$", page, flags=re.MULTILINE)
    assert {"vwkde kl", "vwkde divergence", "vwkde ratio", "vwkde demo", "vwkde reproduce"} <= set(titles)
    assert "vwkde inspect check" in titles
    assert "vwkde ratio P Q --at Z" in page
    assert "| `--seed` | Seeds every random choice. | `0` |" in page


def test_the_comparison_agrees_with_the_results():
    """Every cell of its first table is the root mean squared error at 1,000 rows."""
    results = {}
    for figure in ("fig4", "fig5"):
        record = json.loads((ROOT / "docs" / "results" / figure / "results.json").read_text())
        results |= record["results"]
    pairs = ["iso-2", "iso-10", "iso-20", "nh-10", "nh-20", "modes-2", "modes-20"]
    rows = re.findall(r"^\| (.*) \| (.*) \|$", PAGES["docs/comparison.md"].split("## More")[0], flags=re.MULTILINE)
    rows = [re.split(r" \| ", " | ".join(row)) for row in rows[1:]]
    names = {"the default": "default", "`nn`, `k=10`": "nn-10"}
    assert {names.get(row[0], row[0].strip("`")) for row in rows} == set(results["iso-2"]["methods"])
    for method, *cells in rows:
        for pair, cell in zip(pairs, cells, strict=True):
            place = results[pair]["x"].index(1_000)
            estimates = np.array(results[pair]["methods"][names.get(method, method.strip("`"))]["kl"][place])
            error = np.sqrt(np.mean((estimates - results[pair]["truth"][place]) ** 2))
            assert float(cell) == pytest.approx(error, abs=0.0051), (method, pair)


def test_the_comparison_has_every_family_that_the_benchmark_measures():
    table = PAGES["docs/comparison.md"].split("## More families")[1].split("## Speed")[0]
    rows = re.findall(r"^\| (.*?) \|.*\|$", table, flags=re.MULTILINE)[1:]
    names = [family.name for family in module_at("benchmarks", "families.py").families()]
    assert len(names) == len(rows)
    assert [name for name, row in zip(names, rows, strict=True) if not row.startswith(name)] == []


def test_the_page_on_assumptions_quotes_messages_that_exist():
    table = PAGES["docs/assumptions.md"].split("## What the warnings mean")[1].split("## ")[0]
    first_cells = re.findall(r"^\| (.*?) \|", table, flags=re.MULTILINE)
    quoted = [words for cell in first_cells for words in re.findall(r'"([^"]+)"', cell)]
    source = " ".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    source = re.sub(r'"\s*f?"', "", re.sub(r"\s+", " ", source))
    assert len(quoted) > 10
    for words in quoted:
        assert all(part in source for part in words.split(" … ")), words


def test_the_page_on_assumptions_has_the_figures_of_the_zoo():
    table = PAGES["docs/assumptions.md"].split("| problems | error in floors |")[1].split("\n\n")[0]
    figures = re.findall(r"\| (\d\.\d\d) \| (\d\d) % \|", table)
    assert len(figures) > 5
    results = PAGES["docs/zoo.md"].split("Where the default does well")[1].split("###")[0]
    assert {number for pair in figures for number in pair} <= set(re.findall(r"[\d.]+", results))


def test_the_readme_tells_the_errors_of_its_picture():
    results = json.loads((ROOT / "docs" / "results" / "fig4" / "results.json").read_text())["results"]
    told = re.search(r"KDE (\S+) and (\S+) nats, the default (\S+) and (\d\.\d+)", PAGES["README.md"]).groups()
    found = []
    for method in ("kde", "default"):
        for pair in ("iso-20", "nh-20"):
            size = results[pair]["x"].index(1_000)
            error = np.array(results[pair]["methods"][method]["kl"][size]) - results[pair]["truth"][size]
            found.append(np.sqrt(np.mean(error**2)))
    np.testing.assert_allclose(np.array(told, dtype=float), found, atol=0.0051)


def test_the_first_picture_is_drawn_from_the_results(tmp_path, monkeypatch):
    pictures = module_at("docs", "pictures.py")
    monkeypatch.setattr(pictures, "IMAGES", tmp_path)
    pictures.draw_twenty_dimensions()
    drawn = list(tmp_path.iterdir())
    assert len(drawn) == 2  # for light pages and dark ones
    for path in drawn:
        assert f"docs/images/{path.name}" in PAGES["README.md"]
        assert 10_000 < path.stat().st_size < 100_000


def test_the_dark_picture_is_light_on_a_transparent_ground(tmp_path):
    pictures, path = module_at("docs", "pictures.py"), tmp_path / "one.png"
    light = np.ones((1, 3, 3))
    light[0, 1:] = [0, 0, 0], [0.8, 0.2, 0.4]
    plt.imsave(path, light)
    pictures.save_dark(path)
    ground, line, red = plt.imread(tmp_path / "one-dark.png")[0]
    assert ground[3] == 0
    np.testing.assert_allclose(line, 1)
    np.testing.assert_allclose(red[:3] * red[3], [0.8, 0.2, 0.4], atol=0.01)


def test_the_first_commands_of_the_readme_are_its_two():
    assert shell_lines("README.md")[:2] == [["make", "demo"], ["make", "test"]]


@pytest.mark.parametrize("path", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda path: path.stem)
def test_workflows_run_targets_that_exist(path):
    workflow = yaml.safe_load(path.read_text())
    steps = [step for job in workflow["jobs"].values() for step in job.get("steps", [])]
    lines = [line.split() for step in steps for line in step.get("run", "").splitlines()]
    for words in lines:
        check_command(words)
    assert "secrets." not in path.read_text()


def test_citation_names_the_paper():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["preferred-citation"]["title"] == "Variational Weighting for Kernel Density Ratios"
    assert len(citation["preferred-citation"]["authors"]) == 5
