"""The routes of the API."""

import base64
from dataclasses import dataclass
from math import inf
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Depends, HTTPException, Request, UploadFile
from fastapi.responses import Response
from numpy.typing import NDArray

from vwkde.inspection.data.files import IMAGE_SUFFIXES
from vwkde.inspection.data.images import MOST_PIXELS, encode_png
from vwkde.inspection.data.names import plain
from vwkde.inspection.model.inspection import Inspection
from vwkde.inspection.model.inspector import SurfaceInspector
from vwkde.inspection.model.map_colours import map_colours
from vwkde.inspection.runs.records import ModelInfo, finite
from vwkde.inspection.runs.scores import ScoreRow, scores_table
from vwkde.inspection.server.replies import Judgement, Model, Problem, Row, Rows
from vwkde.inspection.server.station import Station
from vwkde.inspection.server.uploads import as_png, decode

_MAP_SIDE = 1024
"""Maximum length of a map's longer side, in pixels. Maps change from patch to patch, so some of the pixels suffice."""
_TEXTS = ("image", "nearest_good", "error")
"""The fields of a row that contain text from the client."""


@dataclass(frozen=True)
class Served:
    """What the routes serve, and the limits; stored in the state of the application."""

    station: Station
    model_name: str
    read_only: bool
    most_bytes: int


def _served(request: Request) -> Served:
    return request.app.state.served


Here = Annotated[Served, Depends(_served)]

api = APIRouter(prefix="/api")
_refusals: dict[int | str, dict[str, Any]] = {
    403: {"model": Problem, "description": "The request comes from another site, or is not allowed"},
    413: {"model": Problem, "description": "The upload is too large"},
    422: {"model": Problem, "description": "The file cannot be used as an image"},
}
_add_refusals: dict[int | str, dict[str, Any]] = {
    409: {"model": Problem, "description": "Another program has changed the model file"},
    507: {"model": Problem, "description": "The model file cannot be written"},
}


@api.get("/model")
async def model(here: Here) -> Model:
    """Describe the model in use."""
    return _describe(here, here.station.inspector)


@api.post("/check", responses=_refusals)
async def check(image: UploadFile, here: Here) -> Judgement:
    """Check an image."""
    return await here.station.check(lambda inspector: _judge(inspector, *decode(image)))


@api.post("/add", responses=_refusals | _add_refusals)
async def add(image: UploadFile, here: Here) -> Model:
    """Add a good image to the model, and update the threshold."""
    if here.read_only:
        raise HTTPException(403, "This server is read-only: the model cannot be changed.")
    return _describe(here, await here.station.add(lambda: decode(image)))


@api.get("/good", responses={200: {"content": {"image/png": {}}}, 404: {"model": Problem}}, response_class=Response)
async def good(name: str, here: Here) -> Response:
    """Return a small picture of a good image that the model has learnt, as PNG."""
    inspector = here.station.inspector
    if name not in inspector.names_:
        raise HTTPException(404, "The model has no good image of this name.")
    return Response(encode_png(inspector.thumbnail(name)), media_type="image/png")


@api.post("/picture", responses=_refusals | {200: {"content": {"image/png": {}}}}, response_class=Response)
async def picture(image: UploadFile, here: Here) -> Response:
    """Return an image as a gray PNG, for browsers that cannot show its format; a large image is reduced."""
    return Response(await here.station.check(lambda _: as_png(image)), media_type="image/png")


@api.post("/scores.csv", responses=_refusals | {200: {"content": {"text/csv": {}}}}, response_class=Response)
async def scores(rows: Rows) -> Response:
    """Return judgements as the table that `vwkde inspect check` writes."""
    disposition = {"Content-Disposition": 'attachment; filename="scores.csv"'}
    return Response(scores_table(map(_score_row, rows)), media_type="text/csv", headers=disposition)


def _score_row(row: Row) -> ScoreRow:
    values = row.model_dump()
    values |= {name: plain(text) for name, text in values.items() if name in _TEXTS and text is not None}
    if row.verdict != "ERROR" and row.threshold is None:
        values["threshold"] = inf
    return ScoreRow(**values)


def _describe(here: Served, inspector: SurfaceInspector) -> Model:
    about = ModelInfo.of(inspector, here.model_name)
    height, width = inspector.image_shape
    return Model(
        name=here.model_name,
        good_images=about.good_images,
        image_width=width,
        image_height=height,
        features=about.features,
        false_reject_rate=about.false_reject_rate,
        threshold=about.threshold,
        map_threshold=about.map_threshold,
        good_scores=inspector.calibration_.scores.tolist(),
        read_only=here.read_only,
        most_bytes=here.most_bytes,
        most_pixels=MOST_PIXELS,
        suffixes=list(IMAGE_SUFFIXES),
    )


def _judge(inspector: SurfaceInspector, name: str, pixels: NDArray[np.float32]) -> Judgement:
    result = inspector.check(pixels, name)
    return Judgement(
        name=name,
        verdict=result.verdict,
        score=result.score,
        p_value=result.p_value,
        threshold=finite(result.threshold),
        nearest_good=result.nearest,
        boxes=result.shown_boxes,
        boxes_if_rejected=result.boxes_if_rejected,
        map_png=base64.b64encode(encode_png(_coloured_map(result))).decode(),
        map_peak=float(result.log_ratio.max()),
        milliseconds=result.milliseconds,
        good_images=len(inspector.names_),
    )


def _coloured_map(result: Inspection) -> NDArray[np.uint8]:
    step = -(-max(result.log_ratio.shape) // _MAP_SIDE)
    return map_colours(result.log_ratio[::step, ::step], result.map_threshold)
