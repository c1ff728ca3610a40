"""The requests and replies of the server, as described in its OpenAPI document."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field, FiniteFloat

from vwkde.inspection.model.regions import Box

MOST_ROWS = 100_000
"""Maximum number of images in a table of scores."""

_Text = Annotated[str, Field(max_length=1_000)]


class Problem(BaseModel):
    """Why a request was refused, in one line."""

    detail: str


class Model(BaseModel):
    """The model in use."""

    name: str = Field(description="The name of the model file.")
    good_images: int = Field(description="Number of good images that the model has learnt.")
    image_width: int = Field(description="The width at which images are compared, in pixels.")
    image_height: int
    any_size: bool = Field(description="Whether images may have another size; they are scaled to this one.")
    features: str = Field(description="What is measured in each patch.")
    false_reject_rate: float = Field(description="The share of good images that may be rejected.")
    threshold: float | None = Field(
        description="The score, in nats, above which an image is rejected; null if there are too few good images for "
        "the rate, so that no image is rejected."
    )
    map_threshold: float | None = Field(description="The value of the map, in nats, above which it is coloured.")
    good_scores: list[float] = Field(description="The score of every good image, each judged by the others.")
    read_only: bool = Field(description="Whether good images cannot be added.")
    most_bytes: int = Field(description="Maximum size of a request, in bytes.")
    most_pixels: int = Field(description="Maximum number of pixels of an image.")
    suffixes: list[str] = Field(description="The suffixes of image files.")


class SavedMask(BaseModel):
    """A mask that was saved for the next fit."""

    file: str = Field(description="The name of the file, in the folder of the model.")
    ignored_share: float = Field(description="The share of the pixels that are not inspected.")


class Judgement(BaseModel):
    """The result for one image."""

    name: str = Field(description="The name of the uploaded file, without folders.")
    image_width: int = Field(description="Width of the image, in pixels.")
    image_height: int
    verdict: Literal["OK", "NG"]
    score: float = Field(description="How unlike the good images it is, in nats; higher is more unlike.")
    p_value: float = Field(description="The share of good images that score at least as high, counting this image.")
    threshold: float | None = Field(description="The score above which an image is rejected; null if there is none.")
    nearest_good: str = Field(description="The name of the closest good image.")
    boxes: list[Box] = Field(description="Where the image differs, worst first, in pixels; empty if it passes.")
    boxes_if_rejected: list[Box] = Field(description="The boxes it would have if the threshold were below its score.")
    map_png: str = Field(
        description="The map as PNG in base64, an overlay for the image: coloured where it exceeds its threshold, on "
        "one scale for all images, and transparent elsewhere. Large maps are reduced."
    )
    map_peak: float = Field(description="The highest value of the map, in nats.")
    milliseconds: float = Field(description="The time that the check took.")
    good_images: int = Field(description="Number of good images of the model at that time.")


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
