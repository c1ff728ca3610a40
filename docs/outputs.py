"""Put the output and the pictures of a page's snippets below them: python docs/outputs.py [PAGE …]. Default: all pages.

The snippets of a page run in order, in one namespace. What one prints goes into the block of text below it; if that
block ends with an ellipsis, it keeps its number of lines. A picture that one draws goes into the file of the link below
it. Tests run the same snippets: the text must agree, and each picture must come from the snippets as they are now.
"""

import ast
import contextlib
import hashlib
import io
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

ROOT = Path(__file__).resolve().parent.parent
CUT = "…\n"
"""The last line of an output that goes on."""
MADE_FROM = "Snippets"
"""Name of the entry of a picture's file that says which snippets drew it."""
_SNIPPET = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```\n)?(?P<links>(?:\n!\[[^\]]*\]\([^)]+\)\n)*)",
    flags=re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Snippet:
    """Code of a page, the output below it, the paths of the pictures below it, and a digest of all code so far."""

    code: str
    output: str
    pictures: tuple[str, ...]
    digest: str
    place: tuple[int, int]


def snippets(text: str) -> Iterator[Snippet]:
    """Yield the snippets of a page in order."""
    digest = hashlib.sha256()
    for found in _SNIPPET.finditer(text):
        digest.update(found["code"].encode())
        pictures = tuple(re.findall(r"\]\(([^)]+)\)", found["links"]))
        yield Snippet(found["code"], found["output"] or "", pictures, digest.hexdigest()[:16], found.span())


def run(code: str, names: dict[str, Any]) -> tuple[str, list[Any]]:
    """Run a snippet, and return what it prints and the values of its expressions, which a notebook would show."""
    printed, shown = io.StringIO(), []
    with contextlib.redirect_stdout(printed):
        for statement in ast.parse(code).body:
            if isinstance(statement, ast.Expr):
                shown.append(eval(compile(ast.Expression(statement.value), "page", "eval"), names))
            else:
                exec(compile(ast.Module([statement], []), "page", "exec"), names)
    return printed.getvalue(), shown


def cut_like(printed: str, output: str) -> str:
    """Return what was printed, cut off where a page shows its first lines and then an ellipsis."""
    lines = output.splitlines(keepends=True)
    return "".join([*printed.splitlines(keepends=True)[: len(lines) - 1], CUT]) if lines[-1:] == [CUT] else printed


def renew(page: Path) -> None:
    """Write the page with the output of its snippets, and the files of its pictures."""
    text, names, start, parts = page.read_text(encoding="utf-8"), {}, 0, []
    for snippet in snippets(text):
        printed, _ = run(snippet.code, names)
        _save(snippet, page)
        links = re.search(r"(?:\n!\[[^\]]*\]\([^)]+\)\n)*\Z", text[slice(*snippet.place)])
        below = f"\n```text\n{cut_like(printed, snippet.output)}```\n" if printed else ""
        parts += [text[start : snippet.place[0]], f"```python\n{snippet.code}```\n", below, links[0] if links else ""]
        start = snippet.place[1]
    page.write_text("".join([*parts, text[start:]]), encoding="utf-8")


def _save(snippet: Snippet, page: Path) -> None:
    figures = [plt.figure(number) for number in plt.get_fignums()]
    for figure, path in zip(figures, snippet.pictures, strict=True):
        target = page.parent / path
        target.parent.mkdir(exist_ok=True)
        figure.savefig(target, dpi=90, metadata={MADE_FROM: snippet.digest})
    plt.close("all")


if __name__ == "__main__":
    plt.switch_backend("agg")
    sys.path.append(str(ROOT / "benchmarks"))  # the page on the zoo imports from there
    everywhere = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/guide/*.md")]
    for page in [ROOT / path for path in sys.argv[1:]] or everywhere:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            renew(page)
        print(page.relative_to(ROOT), flush=True)
