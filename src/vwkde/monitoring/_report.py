"""The report of a comparison: one self-contained HTML file, for people who run a process, not statistics."""

from importlib import resources
from pathlib import Path

from vwkde._data.frames import NAMELESS
from vwkde._display.markup import Markup, element, joined
from vwkde._display.page import BEGINNING, title_of, whole_page
from vwkde._display.style import number
from vwkde._display.text import visible
from vwkde.monitoring._drawn import Clouds, Picture, legend
from vwkde.monitoring._parts import ColumnDrift, RowDrift
from vwkde.monitoring._words import Told, percent, share_in_words

_TITLE = "Drift report"
_MOST_COLUMNS = 30
_TOGETHER = "How two columns go together. Each point is a row; up to 400 rows of each table are shown."
_ALONE = "Each column alone: how often its values occur."
_WELL_EXPLAINED = 0.7
"""Share of the joint difference that single columns and pairs explain, below which the page says that there is more."""


class Reported(Told):
    """Adds the page."""

    def to_html(self) -> str:
        """Return a report as one HTML page, which needs no network.

        Returns
        -------
        str
            The page.

        Examples
        --------
        >>> import numpy as np, vwkde
        >>> x = np.random.default_rng(0).normal(size=(100, 2))
        >>> vwkde.drift(x[:50], x[50:], measure="if-drift").to_html()[:15]
        '<!doctype html>'
        """
        return _page(self)


def is_report(path: Path) -> bool:
    """Return whether a file is such a page, as far as its beginning tells."""
    try:
        with path.open("rb") as file:
            return title_of(file.read(BEGINNING)) == _TITLE
    except OSError:
        return False


def _page(result: Told) -> str:
    style = (resources.files(__package__) / "style.css").read_text(encoding="utf-8")
    sections = [_banner(result), _amount(result), _pictures(result), _columns(result), _rows(result), _reading(result)]
    return whole_page(_TITLE, sections, style)


def _banner(result: Told) -> Markup:
    found = result.has_drifted
    title = "The current table differs from the reference" if found else "No drift found"
    chance = (
        f"If nothing had changed, a difference as clear as this would be seen in {_odds(result.p_value)}"
        f"{' or fewer' if result.p_value <= 1 / (result.n_permutations + 1) else ''}."
        if found
        else f"Differences this large are common between tables that come from one source (p = {result.p_value:.2g})."
    )
    over = f"{_TITLE} · {result.sizes[0]:,} reference rows · {result.sizes[1]:,} current rows"
    return element(
        "header",
        element("p", over, class_="over"),
        element("h1", title),
        element("p", chance),
        [element("p", f"{line[:1].upper()}{line[1:]}.") for line in result.column_words],
        class_="ng" if found else "ok",
    )


def _odds(p: float) -> str:
    return f"1 of {1 / p:,.0f} comparisons" if p < 0.1 else f"{100 * p:.0f} of 100 comparisons"


def _amount(result: Told) -> Markup | None:
    estimate = result.total_variation
    if estimate is None:
        return None
    value, (low, high) = max(0.0, estimate.value), (max(0.0, end) for end in estimate.interval)
    words = _amount_in_words(value, result.from_in_words(low), high) if result.has_drifted else _limit_in_words(high)
    bar = element(
        "div",
        element("span", class_="range", style=f"left:{100 * low:.1f}%;width:{100 * (high - low):.1f}%"),
        element("span", class_="dot", style=f"left:{100 * value:.1f}%"),
        class_="scale",
        role="img",
        aria_label=f"{percent(value)}, interval {percent(low)} to {percent(high)}",
    )
    ends = element("div", element("span", "0 %: the same"), element("span", "100 %: nothing in common"), class_="ends")
    return element("section", element("h2", "How much"), element("p", words), bar, ends, _jensen_shannon(result))


def _jensen_shannon(result: Told) -> Markup | None:
    estimate = result.jensen_shannon
    if estimate is None:
        return None
    value, low, high = (number(max(0.0, each)) for each in (estimate.value, *estimate.interval))
    words = f"Jensen–Shannon divergence: {value} nats (95 % interval: {low} to {high}; the largest possible is 0.693)."
    return element("p", words, class_="soft")


def _amount_in_words(value: float, low: str, high: float) -> str:
    return (
        f"To turn one table into the other, about {percent(value)} of the rows would have to change "
        f"(95 % interval: {low} to {percent(high)}). In other words: from a single row one can guess which "
        f"table it is from, and be right in {percent((1 + value) / 2)} of all cases. Chance alone is right in 50 %."
    )


def _limit_in_words(high: float) -> str:
    return (
        f"Nothing that these rows can show. With so many rows and columns, a change of up to {percent(high)} of the "
        f"rows may remain unseen (upper end of the 95 % interval). More rows show smaller changes."
    )


def _pictures(result: Told) -> Markup | None:
    if not result.pictures:
        return None
    pairs = [picture for picture in result.pictures if isinstance(picture, Clouds)]
    single = [picture for picture in result.pictures if not isinstance(picture, Clouds)]
    parts = [
        (element("p", words, class_="soft"), element("div", [_figure(each) for each in pictures], class_="pictures"))
        for words, pictures in ((_TOGETHER, pairs), (_ALONE, single))
        if pictures
    ]
    return element("section", element("h2", "What it looks like"), legend(), parts)


def _figure(picture: Picture) -> Markup:
    return element("figure", element("figcaption", picture.title), picture.drawn())


def _columns(result: Told) -> Markup:
    shares = result.has_drifted and any(column.share is not None for column in result.columns)
    heads = ["Column", *(["Share in the difference"] if shares else []), "Alone", "p, adjusted", "Largest change"]
    level = result.level if result.has_drifted else 0.0  # without drift, no column is a finding
    rows = [_column(column, level, shares) for column in result.columns[:_MOST_COLUMNS]]
    left = len(result.columns) - len(rows)
    notes = [
        f"{left} more columns matter less." if left > 0 else None,
        _left_out(result),
        _beyond_pairs(result, shares),
    ]
    table = element(
        "table", element("thead", element("tr", [element("th", head) for head in heads])), element("tbody", rows)
    )
    return element(
        "section",
        element("h2", "Columns"),
        element("div", table, class_="scroll"),
        [element("p", note, class_="soft") for note in notes if note],
    )


def _column(column: ColumnDrift, level: float, shares: bool) -> Markup:
    name = joined(column.name, element("small", f" same as {', '.join(column.same_as)}") if column.same_as else None)
    share = column.share or 0.0
    bar = element("span", class_="bar", style=f"width:{6 * share:.2f}em")
    cells = [element("td", bar, f" {share_in_words(share)}", class_="figure")] if shares else []
    found = column.adjusted_p_value <= level
    return element(
        "tr",
        element("th", name),
        cells,
        element("td", f"{100 * column.alone:.0f} %", class_="figure"),
        element("td", f"{column.adjusted_p_value:.2g}", class_="figure found" if found else "figure"),
        element("td", column.change),
    )


def _left_out(result: Told) -> str | None:
    return f"Not used: {', '.join(name or NAMELESS for name in result.left_out)}." if result.left_out else None


def _beyond_pairs(result: Told, shares: bool) -> str | None:
    if not shares or result.explained is None or result.explained >= _WELL_EXPLAINED:
        return None
    return (
        f"Single columns and pairs explain {percent(result.explained)} of the difference; the rest lies in how three "
        f"or more columns go together, or in details too fine for these shares."
    )


def _rows(result: Told) -> Markup | None:
    if not result.rows:
        return None
    names = list(result.rows[0].values)
    heads = ["Row", "Times as common as in the reference", *names]
    rows = [_row(row, names) for row in result.rows]
    table = element(
        "table", element("thead", element("tr", [element("th", head) for head in heads])), element("tbody", rows)
    )
    words = "The current rows that are most unlike the reference, with their values in the columns that matter most."
    return element(
        "section", element("h2", "Rows to look at first"), element("p", words), element("div", table, class_="scroll")
    )


def _row(row: RowDrift, names: list[str]) -> Markup:
    times = "> 1,000" if row.log_ratio > 6.9 else number(2.718281828459045**row.log_ratio)
    values = [element("td", _shown(row.values[name]), class_="figure") for name in names]
    return element("tr", element("th", str(row.index)), element("td", times, class_="figure"), values)


def _shown(value: object) -> str:
    if value is None:
        return "missing"
    return number(value) if isinstance(value, float) else visible(str(value))


def _reading(result: Told) -> Markup:
    level = percent(result.level)
    points = {
        "Drift found": f"decided by one test of all columns together, at a level of {level}: if nothing changes, "
        f"{level} of comparisons report drift all the same.",
        "Share": "how much of what tells the tables apart is in a column, alone or together with others. Shares add up "
        "to 100 %; columns that say the same, such as copies, have one share in common.",
        "Alone": "how much of the column's values would have to change if one looked at this column only.",
        "p, adjusted": "the p-value of the column alone, valid for all columns together (Westfall and Young). A column "
        "can have a large share and a large p: it changed only together with others.",
        "Limits": "no drift found is no proof that nothing changed: few rows show large changes only. Rows must be "
        "independent, or groups= must say which belong together.",
    }
    items = [joined(element("dt", name), element("dd", words)) for name, words in points.items()]
    return element("details", element("summary", "How to read this report"), element("dl", items), class_="reading")
