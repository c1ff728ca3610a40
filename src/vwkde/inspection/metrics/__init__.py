"""How well an inspection works, measured where the defective images and pixels are known.

`images` evaluates one score per image, `pixels` maps of scores against masks, and `detections` detected regions.
`bootstrap` gives intervals for all measures. It resamples images, because the pixels and detections of one image are
not independent.
"""


class UndefinedMeasureError(ValueError):
    """A measure is undefined, because there are no good or no defective images, pixels or regions."""
