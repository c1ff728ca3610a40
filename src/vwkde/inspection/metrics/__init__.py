"""How well an inspection did, where it is known which images and which pixels are defective.

`images` judges images by one score each, `pixels` maps of scores against masks, and `detections` regions that were
found. Intervals for all measures come from `bootstrap`, which draws images anew, since pixels and detections of one
image are not independent.
"""


class UndefinedMeasureError(ValueError):
    """A measure has no value, since there are no good or no defective images, pixels or regions."""
