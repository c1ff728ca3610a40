"""What a notebook shows of a fitted ratio."""

import warnings

from vwkde._display import html, svg
from vwkde._display.text import shown, with_interval
from vwkde.ratio._answers import RatioAnswers


def ratio_card(ratio: RatioAnswers) -> str:
    """Return the KL divergence, the warnings it raised, and the log ratios at all rows."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kl = ratio.divergence("kl")
    diagnostics, columns = ratio.diagnostics_, ratio.n_features_in_
    rows, others = diagnostics["rows"]
    samples = {
        f"numerator ({rows:,} rows)": ratio.numerator_log_ratio_,
        f"denominator ({others:,} rows)": ratio.denominator_log_ratio_,
    }
    return html.card(
        f"log ratio of {rows:,} rows to {others:,}, {columns} column{'s' if columns > 1 else ''}",
        *(html.note(str(warning.message)) for warning in caught),
        svg.histograms(samples),
        "log p₁/p₂ at the rows, in nats, each row left out",
        f"KL divergence {with_interval(kl.value, kl.interval, kl.unit, kl.confidence_level)}",
        svg.interval(kl.value, *kl.interval),
        details={name: shown(value) for name, value in diagnostics.items()},
    )
