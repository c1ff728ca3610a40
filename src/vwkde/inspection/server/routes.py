"""The routes of the API."""

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request, UploadFile
from fastapi.responses import Response
from pydantic import TypeAdapter

from vwkde.inspection.data.files import IMAGE_SUFFIXES
from vwkde.inspection.data.images import MOST_PIXELS, encode_png
from vwkde.inspection.model.inspector import SurfaceInspector
from vwkde.inspection.runs.records import ModelInfo
from vwkde.inspection.server import tasks
from vwkde.inspection.server.limits import MOST_TABLE_BYTES
from vwkde.inspection.server.masks import read_mask, write_mask
from vwkde.inspection.server.replies import Judgement, Model, Problem, Rows, SavedMask
from vwkde.inspection.server.station import Station
from vwkde.inspection.server.uploads import OneFile, Sent, body_of, label


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

api = APIRouter(prefix="/api", route_class=OneFile)
_refusals: dict[int | str, dict[str, Any]] = {
    403: {"model": Problem, "description": "The request comes from another site, or is not allowed"},
    413: {"model": Problem, "description": "The upload is too large"},
    422: {"model": Problem, "description": "The file cannot be used as an image"},
    503: {"model": Problem, "description": "There is too much to do; the header Retry-After says when to try again"},
}
_form_refusals: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "The request is no form with one file and nothing else"},
    **_refusals,
}
_add_refusals: dict[int | str, dict[str, Any]] = {
    409: {"model": Problem, "description": "The model file cannot be read, or another program is changing it"},
    507: {"model": Problem, "description": "The model file cannot be written"},
}


_TABLE = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": TypeAdapter(Rows).json_schema()}},
    }
}
"""The body of a table in the OpenAPI document. It is read by a worker, since large ones take their time."""


@api.get("/model")
async def model(here: Here) -> Model:
    """Describe the model in use."""
    await here.station.refresh()
    return _describe(here, here.station.inspector)


@api.post("/check", responses=_form_refusals)
async def check(request: Request, image: UploadFile, here: Here) -> Judgement:
    """Check an image."""
    return await here.station.do(tasks.check, Sent(request, image).read, label(image.filename or ""))


@api.post("/add", responses=_form_refusals | _add_refusals)
async def add(request: Request, image: UploadFile, here: Here) -> Model:
    """Add a good image to the model, and update the threshold. An image that the model knows is not added again."""
    if here.read_only:
        raise HTTPException(403, "This server is read-only: the model cannot be changed.")
    by = f"client {request.client.host if request.client else 'unknown'}"
    added = await here.station.add(Sent(request, image).read, label(image.filename or ""), by)
    return _describe(here, added)


@api.get("/good", responses={200: {"content": {"image/png": {}}}, 404: {"model": Problem}}, response_class=Response)
async def good(name: str, here: Here) -> Response:
    """Return a small picture of a good image that the model has learnt, as PNG."""
    inspector = here.station.inspector
    if name not in inspector.names_:
        raise HTTPException(404, "The model has no good image of this name.")
    return Response(encode_png(inspector.thumbnail(name)), media_type="image/png")


@api.post("/picture", responses=_form_refusals | {200: {"content": {"image/png": {}}}}, response_class=Response)
async def picture(request: Request, image: UploadFile, here: Here) -> Response:
    """Return an image as a gray PNG, for browsers that cannot show its format; a large image is reduced."""
    png = await here.station.do(tasks.picture, Sent(request, image).read, label(image.filename or ""))
    return Response(png, media_type="image/png")


@api.get(
    "/mask",
    responses={200: {"content": {"image/png": {}}}, 204: {"description": "Nothing is ignored"}},
    response_class=Response,
)
async def drawn_mask(here: Here) -> Response:
    """Return the mask of what is not inspected as PNG, white where it is ignored: that saved last, or the model's."""
    png = await asyncio.to_thread(read_mask, here.station.inspector, here.station.path)
    headers = {"Cache-Control": "no-store"}
    return Response(status_code=204) if png is None else Response(png, media_type="image/png", headers=headers)


@api.post("/mask", responses=_form_refusals | _add_refusals)
async def save_mask(request: Request, image: UploadFile, here: Here) -> SavedMask:
    """Save a mask of what is not inspected next to the model file, for the next fit. The model stays as it is."""
    if here.read_only:
        raise HTTPException(403, "This server is read-only: no mask can be saved.")
    model_file = here.station.path
    if model_file is None:
        raise HTTPException(409, "The model has no file, so there is no place for a mask.")
    png, share = await here.station.do(tasks.mask, Sent(request, image).read)
    path = await asyncio.to_thread(write_mask, png, model_file)
    return SavedMask(file=path.name, ignored_share=share)


@api.post(
    "/scores.csv",
    responses=_refusals | {200: {"content": {"text/csv": {}}}},
    response_class=Response,
    openapi_extra=_TABLE,
)
async def scores(request: Request, here: Here) -> Response:
    """Return judgements as the table that `vwkde inspect check` writes."""
    async with body_of(request, min(MOST_TABLE_BYTES, here.most_bytes)) as sent:
        table = await here.station.table(sent.read)
    disposition = {"Content-Disposition": 'attachment; filename="scores.csv"'}
    return Response(table, media_type="text/csv", headers=disposition)


def _describe(here: Served, inspector: SurfaceInspector) -> Model:
    about = ModelInfo.of(inspector, here.model_name)
    height, width = inspector.image_shape
    return Model(
        name=here.model_name,
        good_images=about.good_images,
        image_width=width,
        image_height=height,
        any_size=inspector.accepted_shape is None,
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
