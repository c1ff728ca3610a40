"""The model card: what a model file says about itself, for those who did not make it."""

from dataclasses import asdict
from math import isfinite
from typing import Any

import numpy as np

from vwkde.inspection.model.inspector import SurfaceInspector


def model_card(inspector: SurfaceInspector) -> dict[str, Any]:
    """Return what is known about a model, for JSON."""
    height, width = inspector.image_shape
    calibration, ignored = inspector.calibration_, inspector.ignore
    return {
        "features": inspector.features_name,
        "networks": inspector.n_networks_,
        "good_images": len(inspector.names_),
        "image_width": width,
        "image_height": height,
        "any_size": inspector.accepted_shape is None,
        "aligned": inspector.align,
        "colour": inspector.colour,
        "ignored_share": 0.0 if ignored is None else float(np.mean(ignored)),
        "false_reject_rate": inspector.false_reject_rate,
        "threshold": _finite(calibration.threshold),
        "threshold_of_good": _finite(calibration.threshold_of_good),
        "known_bad_images": len(calibration.bad),
        "unlike_others": inspector.unlike_others_,
        "made": asdict(inspector.made_),
        "changes": len(inspector.changes_),
    }


def card_lines(card: dict[str, Any]) -> list[str]:
    """Return a model card as lines of text."""
    made, threshold = card["made"], card["threshold"]
    rows = {
        "note": made["note"],
        "features": card["features"],
        "networks": f"{card['networks']}, trained on the good images with made-up defects" if card["networks"] else "",
        "learnt": f"{card['good_images']} good images of {card['image_width']} × {card['image_height']} pixels",
        "images": "of any size, scaled to this one" if card["any_size"] else "",
        "colours": "count as brightness does" if card["colour"] else "",
        "aligned": "images are shifted to one place" if card["aligned"] else "",
        "ignored": f"{card['ignored_share']:.1%} of the pixels" if card["ignored_share"] else "",
        "threshold": "none: too few good images for the rate" if threshold is None else f"{threshold:.4g} nats",
        "rate": f"at most {card['false_reject_rate']:.3g} of good images are rejected, if they are like those learnt",
        "unlike": ", ".join(card["unlike_others"])
        and f"{', '.join(card['unlike_others'])}: far above other good images",
        "known bad": f"{card['known_bad_images']} images" if card["known_bad_images"] else "",
        "made": " ".join(filter(None, (made["when"], made["who"], made["version"] and f"vwkde {made['version']}"))),
        "changes": f"{card['changes']} since then, see: vwkde inspect history" if card["changes"] else "",
        "limits": "a pass is no proof: a defect that looks like the variation of good images is not found",
    }
    return [f"{name:<10} {words}" for name, words in rows.items() if words]


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None
