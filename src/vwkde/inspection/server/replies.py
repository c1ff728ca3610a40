"""What the server says and hears, as its OpenAPI document describes it."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field, FiniteFloat

from vwkde.inspection.model.regions import Box

MOST_ROWS = 100_000
"""Images in a table of scores, at most."""

_Text = Annotated[str, Field(max_length=1_000)]


class Problem(BaseModel):
    """Why a request was refused, in one line."""

    detail: str


class Model(BaseModel):
    """The model in use."""

    name: str = Field(description="What the model file is called.")
    good_images: int = Field(description="Good images that it has learnt from.")
    image_width: int
    image_height: int
    features: str = Field(description="What is measured in each patch.")
    false_reject_rate: float = Field(description="The share of good images that may be rejected.")
    threshold: float | None = Field(
        description="The score, in nats, above which an image is rejected; null if there are too few good images for "
        "the rate, and nothing is rejected."
    )
    map_threshold: float | None = Field(description="The value of the map, in nats, above which it is coloured.")
    good_scores: list[float] = Field(description="The score of every good image, each judged by the others.")
    read_only: bool = Field(description="Whether the model is closed to further good images.")
    most_bytes: int = Field(description="Bytes in one request, at most.")
    most_pixels: int = Field(description="Pixels in an image, at most.")
    suffixes: list[str] = Field(description="What the names of image files end in.")


class Judgement(BaseModel):
    """What was found about one image."""

    name: str = Field(description="The file's name as it was sent, without folders.")
    verdict: Literal["OK", "NG"]
    score: float = Field(description="How unlike the good images it is, in nats: the higher, the more.")
    p_value: float = Field(description="The share of good images that score as high.")
    threshold: float | None = Field(description="The score above which an image is rejected; null: none is.")
    nearest_good: str = Field(description="The name of the closest good image.")
    boxes: list[Box] = Field(description="Where the image fails, worst first, in pixels; empty if it passes.")
    boxes_if_rejected: list[Box] = Field(description="The boxes it would have if the threshold were below its score.")
    map_png: str = Field(
        description="The map as PNG in base64, to be laid over the image: coloured on one scale for all images where "
        "it exceeds its threshold, and clear elsewhere. Large maps are reduced."
    )
    map_peak: float = Field(description="The highest value of the map, in nats.")
    milliseconds: float = Field(description="Time taken.")
    good_images: int = Field(description="Good images that the model had learnt from.")


class Row(BaseModel):
    """One image in a table of scores; an image that could not be checked has only a name, a verdict and an error."""

    image: _Text
    verdict: Literal["OK", "NG", "ERROR"]
    score: FiniteFloat | None = None
    p_value: FiniteFloat | None = None
    threshold: FiniteFloat | None = None
    nearest_good: _Text | None = None
    boxes: list[tuple[int, int, int, int]] = Field([], max_length=10_000, description="top, left, bottom, right")
    milliseconds: FiniteFloat | None = None
    error: _Text | None = None


Rows = Annotated[list[Row], Field(max_length=MOST_ROWS)]
