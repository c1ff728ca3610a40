"""Which images of a data set to fit on and which to test, so that none is both."""

from dataclasses import replace

from vwkde.inspection.layouts import Item, Layout, LayoutError

_HALF = 0.5
"""Share of the good images that is held out where a data set has no good ones to test."""


def without_model(layout: Layout, hold_out: float | None, seed: int) -> Layout:
    """Return what to fit on and what to test; where no good image would be tested, half of them are held out."""
    if hold_out is None and not _good_tests(layout):
        hold_out = _HALF
    return _checked(layout if hold_out is None else layout.divided(hold_out, seed))


def with_model(layout: Layout, learnt: list[str], hold_out: float | None, seed: int) -> Layout:
    """Return what to test a model on that learnt images of these names.

    Where the data set has no good images to test, those are tested that the model did not learn.
    """
    if hold_out is not None:
        layout = layout.divided(hold_out, seed)
    elif not _good_tests(layout):
        left = tuple(replace(item, defective=False) for item in layout.good if not _is_learnt(item, learnt))
        if not left:
            raise LayoutError(
                "Every good image of this data set was learnt, so that none is left to test. Fit with --hold-out 0.5, "
                "or leave the model out here, and half of the good images are held out."
            )
        defective = tuple(item for item in layout.test if item.defective)
        layout = replace(layout, good=(), test=(*left, *defective))
    names = set(learnt)
    if both := [item.name for item in _good_tests(layout) if item.name in names]:
        raise LayoutError(
            f"{len(both)} of the good images to test were learnt ({both[0]}): give the --hold-out and --seed of the "
            "fit, or neither."
        )
    return _checked(layout)


def _checked(layout: Layout) -> Layout:
    if not layout.labelled:
        raise LayoutError(
            "It is not known which images are defective: an evaluation needs labels. Give a data set with folders for "
            "good and for defective images, or use check."
        )
    return layout


def _good_tests(layout: Layout) -> list[Item]:
    return [item for item in layout.test if item.defective is False]


def _is_learnt(item: Item, learnt: list[str]) -> bool:
    """Return whether an image may be one that was learnt: below another folder its name may have more or less parts."""
    parts = item.name.split("/")
    others = (name.split("/") for name in learnt)
    return any(parts[-len(other) :] == other[-len(parts) :] for other in others)
