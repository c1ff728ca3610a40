"""What worker processes do for clients: decode, judge, add, draw, and write tables."""

import base64
from collections.abc import Callable
from copy import copy
from math import inf, isfinite

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from pydantic import TypeAdapter, ValidationError

from vwkde.inspection.data.colours import brightness
from vwkde.inspection.data.errors import refuse
from vwkde.inspection.data.images import decode_image, encode_png
from vwkde.inspection.data.names import plain
from vwkde.inspection.model.inspection import Inspection
from vwkde.inspection.model.inspector import SurfaceInspector
from vwkde.inspection.model.map_colours import map_colours
from vwkde.inspection.runs.records import finite
from vwkde.inspection.runs.scores import ScoreRow, scores_table
from vwkde.inspection.server.largest import most_pixels
from vwkde.inspection.server.limits import MOST_BYTES_BESIDE, MOST_BYTES_PER_PIXEL
from vwkde.inspection.server.replies import Judgement, Row, Rows

Singles = NDArray[np.float32]
Decoded = Callable[[], None]
"""Called when the image is decoded."""

_MAP_SIDE = 1024
"""Maximum length of a map's longer side, in pixels. Maps change from patch to patch, so some of the pixels suffice."""
_PICTURE_SIDE = 2048
"""Maximum length of the longer side of a picture that is sent back, in pixels."""
_TEXTS = ("image", "nearest_good", "error")
"""The fields of a row that contain text from the client."""
_ROWS: TypeAdapter[list[Row]] = TypeAdapter(Rows)


def check(inspector: SurfaceInspector, decoded: Decoded, data: bytes, name: str) -> Judgement:
    """Return the judgement of an image file."""
    pixels = _decode(inspector, decoded, data, name)
    result = inspector.check(pixels, name)
    if not isfinite(result.score):
        refuse(name, "its score is not finite: not judged.")
    height, width = result.log_ratio.shape
    return Judgement(
        name=name,
        image_width=width,
        image_height=height,
        verdict=result.verdict,
        score=result.score,
        p_value=result.p_value,
        threshold=finite(result.threshold),
        nearest_good=result.nearest,
        boxes=result.shown_boxes,
        boxes_if_rejected=result.boxes_if_rejected,
        map_png=base64.b64encode(encode_png(coloured_map(result))).decode(),
        map_peak=float(result.log_ratio.max()),
        milliseconds=result.milliseconds,
        good_images=len(inspector.names_),
    )


def add(inspector: SurfaceInspector, decoded: Decoded, data: bytes, name: str, by: str) -> SurfaceInspector:
    """Return an inspector that knows a further good image."""
    pixels = _decode(inspector, decoded, data, name)
    return copy(inspector).add([(name, pixels)], by=by)


def picture(inspector: SurfaceInspector, decoded: Decoded, data: bytes, name: str) -> bytes:
    """Return an image file as a gray PNG; a large image is reduced."""
    return small_png(brightness(_decode(inspector, decoded, data, name)))


def mask(inspector: SurfaceInspector, decoded: Decoded, data: bytes) -> tuple[bytes, float]:
    """Return a mask of what is not inspected as PNG, and the share of its pixels that are ignored."""
    name = "mask"
    drawn = decode_image(data, name, inspector.image_shape) > 0
    decoded()
    if drawn.all():
        refuse(name, "everything is ignored; leave something to inspect.")
    return encode_png(np.where(drawn, np.uint8(255), np.uint8(0))), float(drawn.mean())


def table(_: SurfaceInspector, decoded: Decoded, data: bytes) -> bytes:
    """Return judgements, given as JSON, as the table that `vwkde inspect check` writes."""
    decoded()  # a table has no pixels
    try:
        rows = _ROWS.validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(map(str, ("body", *first["loc"])))
        raise ValueError(f"{where}: {first['msg']}. See /openapi.json for the expected format.") from None
    return scores_table(map(_score_row, rows)).encode()


def nothing(_: SurfaceInspector, decoded: Decoded, __: bytes) -> None:
    """Do nothing: a worker that can do this is ready."""
    decoded()


def small_png(pixels: Singles) -> bytes:
    """Return gray values as PNG; a large image is reduced."""
    gray = Image.fromarray(np.rint(255 * pixels).astype(np.uint8))
    return encode_png(np.asarray(gray.reduce(-(-max(gray.size) // _PICTURE_SIDE))))


def coloured_map(result: Inspection) -> NDArray[np.uint8]:
    """Return the colours of a map; a large map is reduced."""
    step = -(-max(result.log_ratio.shape) // _MAP_SIDE)
    return map_colours(result.log_ratio[::step, ::step], result.coloured_from)


def _decode(inspector: SurfaceInspector, decoded: Decoded, data: bytes, name: str) -> Singles:
    """Return the pixels of an image; one that has not the size of the good images is refused by its header."""
    most = most_pixels(inspector)
    if len(data) > MOST_BYTES_PER_PIXEL * most + MOST_BYTES_BESIDE:
        refuse(name, "the file is far larger than its pixels need; save the image again.")
    pixels = decode_image(data, name, inspector.accepted_shape, most, inspector.colour)
    decoded()
    return pixels


def _score_row(row: Row) -> ScoreRow:
    values = row.model_dump()
    values |= {name: plain(text) for name, text in values.items() if name in _TEXTS and text is not None}
    if row.verdict != "ERROR" and row.threshold is None:
        values["threshold"] = inf
    return ScoreRow(**values)
