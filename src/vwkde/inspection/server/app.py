"""The inspection as a page in the browser, and as a small JSON API with its OpenAPI document.

Images are uploaded, checked and forgotten: nothing is kept of them unless they are added to the model. A file's name is
a label; no path that a client sends is ever opened.
"""

import base64
import socket
import unicodedata
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from importlib.resources import files
from ipaddress import ip_address
from math import inf
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import uvicorn
from fastapi import APIRouter, Depends, FastAPI, HTTPException, Request, UploadFile
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response

import vwkde
from vwkde.inspection.data.images import IMAGE_SUFFIXES, MOST_MEBIBYTES, MOST_PIXELS, decode_image, encode_png
from vwkde.inspection.model.inspector import Inspection, SurfaceInspector
from vwkde.inspection.model.map_colours import map_colours
from vwkde.inspection.runs.folder import finite, plain, scores_table
from vwkde.inspection.server.guards import BodyLimit, OwnHost, SafeHeaders
from vwkde.inspection.server.replies import Judgement, Model, Problem, Rows
from vwkde.inspection.server.station import ChangedFileError, NamedImage, NotSavedError, Station

MOST_BYTES = MOST_MEBIBYTES * 2**20
"""Bytes in one request, at most, unless told otherwise."""

_MOST_CONNECTIONS = 64
_LONGEST_NAME = 200
_MAP_SIDE = 1024
"""Pixels of a map's longer side, at most; it changes from patch to patch, so that of large ones some pixels will do."""
_PICTURE_SIDE = 2048
_EVERYWHERE = ("0.0.0.0", "::")
"""Hosts that stand for all addresses of this machine."""
_OWN_NAMES = ("localhost", "127.0.0.1", "::1")
_KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
"""Media types of the page's files."""


def make_app(
    inspector: SurfaceInspector,
    *,
    path: Path | None = None,
    read_only: bool = False,
    host: str = "127.0.0.1",
    most_bytes: int = MOST_BYTES,
) -> FastAPI:
    """Return the application that serves a page and an API for the inspector.

    Good images that are added are saved to `path`, if there is one. `host` is the name by which the server is reached,
    besides those that only this machine uses.
    """
    station = Station(inspector, None if read_only else path)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        station.close()

    app = FastAPI(title="vwkde inspect", version=vwkde.__version__, lifespan=lifespan, docs_url=None, redoc_url=None)
    app.state.station, app.state.read_only, app.state.most_bytes = station, read_only, most_bytes
    app.state.model_name = path.name if path is not None else "model"
    app.include_router(_api)
    _add_page(app)
    _add_problems(app)
    app.add_middleware(BodyLimit, most_bytes=most_bytes)
    app.add_middleware(OwnHost, hosts=_own_hosts(host), any_address=host in _EVERYWHERE)
    app.add_middleware(SafeHeaders)
    return app


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens at that address; port 0 is any that is free."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family)
    except OSError as error:
        raise ValueError(
            f"{host}:{port} cannot be listened at ({error.strerror or error}). Choose another --port, or 0 for any "
            "that is free."
        ) from None


def is_private(listener: socket.socket) -> bool:
    """Return whether only this machine can reach the socket."""
    return ip_address(listener.getsockname()[0]).is_loopback


def address(listener: socket.socket) -> str:
    """Return what to open in a browser on this machine."""
    host, port = listener.getsockname()[:2]
    name = "localhost" if host in _EVERYWHERE else f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/"


def make_server(app: FastAPI) -> uvicorn.Server:
    """Return what serves the application: `run(sockets=[…])` does until it is interrupted."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        ws="none",
        proxy_headers=False,
        server_header=False,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=5,
    )
    return uvicorn.Server(config)


def label(name: str) -> str:
    """Return a client's name for a file as a label: no folders, no control characters, and not too long."""
    printable = "".join(character for character in name if unicodedata.category(character)[0] != "C")
    last = printable.replace("\\", "/").rsplit("/", 1)[-1].strip()[:_LONGEST_NAME]
    return last if last.strip(".") else "image"


_api = APIRouter(prefix="/api")
_refusals: dict[int | str, dict[str, Any]] = {
    403: {"model": Problem, "description": "From another site, or not allowed"},
    413: {"model": Problem, "description": "Too many bytes"},
    422: {"model": Problem, "description": "Not an image that can be used"},
}
_add_refusals: dict[int | str, dict[str, Any]] = {
    409: {"model": Problem, "description": "Another program has changed the model file"},
    507: {"model": Problem, "description": "The model file cannot be written"},
}


@_api.get("/model")
async def model(request: Request) -> Model:
    """Describe the model in use."""
    return _describe(request.app, request.app.state.station.inspector)


def _station(request: Request) -> Station:
    return request.app.state.station


Here = Annotated[Station, Depends(_station)]


@_api.post("/check", responses=_refusals)
async def check(image: UploadFile, station: Here) -> Judgement:
    """Check an image."""
    return await station.check(lambda inspector: _judge(inspector, *_decode(image)))


@_api.post("/add", responses=_refusals | _add_refusals)
async def add(image: UploadFile, request: Request, station: Here) -> Model:
    """Add a good image to the model; the threshold follows."""
    if request.app.state.read_only:
        raise HTTPException(403, "This server was started with --read-only: the model cannot be changed.")
    return _describe(request.app, await station.add(lambda: _decode(image)))


@_api.get("/good", responses={200: {"content": {"image/png": {}}}, 404: {"model": Problem}}, response_class=Response)
async def good(name: str, station: Here) -> Response:
    """Return a small picture of a good image that the model has learnt, as PNG."""
    inspector = station.inspector
    if name not in inspector.names_:
        raise HTTPException(404, "The model knows no good image of that name.")
    return Response(encode_png(inspector.thumbnail(name)), media_type="image/png")


@_api.post("/picture", responses=_refusals | {200: {"content": {"image/png": {}}}}, response_class=Response)
async def picture(image: UploadFile, station: Here) -> Response:
    """Return an image as a gray PNG, for browsers that cannot show its kind of file; a large one is reduced."""
    return Response(await station.check(lambda _: _picture(image)), media_type="image/png")


@_api.post("/scores.csv", responses=_refusals | {200: {"content": {"text/csv": {}}}}, response_class=Response)
async def scores(rows: Rows) -> Response:
    """Return judgements as the table that `vwkde inspect check` writes."""
    found = [row.model_dump(exclude_none=True) for row in rows]
    for row in found:
        row |= {name: plain(row[name]) for name in ("image", "nearest_good", "error") if name in row}
        if row["verdict"] != "ERROR":
            row.setdefault("threshold", inf)
    disposition = {"Content-Disposition": 'attachment; filename="scores.csv"'}
    return Response(scores_table(found), media_type="text/csv", headers=disposition)


def _decode(image: UploadFile) -> NamedImage:
    name = label(image.filename or "")
    return name, decode_image(image.file.read(), name)


def _describe(app: FastAPI, inspector: SurfaceInspector) -> Model:
    height, width = inspector.image_shape
    return Model(
        name=app.state.model_name,
        good_images=len(inspector.names_),
        image_width=width,
        image_height=height,
        features=inspector.features_name,
        false_reject_rate=inspector.false_reject_rate,
        threshold=finite(inspector.calibration_.threshold),
        map_threshold=finite(inspector.map_calibration_.threshold),
        good_scores=inspector.calibration_.scores.tolist(),
        read_only=app.state.read_only,
        most_bytes=app.state.most_bytes,
        most_pixels=MOST_PIXELS,
        suffixes=list(IMAGE_SUFFIXES),
    )


def _judge(inspector: SurfaceInspector, name: str, pixels: Any) -> Judgement:
    found = inspector.check(pixels, name)
    boxes = replace(found, rejected=True).boxes
    return Judgement(
        name=name,
        verdict="NG" if found.rejected else "OK",
        score=found.score,
        p_value=found.p_value,
        threshold=finite(found.threshold),
        nearest_good=found.nearest,
        boxes=boxes if found.rejected else [],
        boxes_if_rejected=boxes,
        map_png=base64.b64encode(encode_png(_map(found))).decode(),
        map_peak=float(found.log_ratio.max()),
        milliseconds=found.milliseconds,
        good_images=len(inspector.names_),
    )


def _map(found: Inspection) -> Any:
    step = -(-max(found.log_ratio.shape) // _MAP_SIDE)
    return map_colours(found.log_ratio[::step, ::step], found.map_threshold)


def _picture(image: UploadFile) -> bytes:
    from PIL import Image

    _, pixels = _decode(image)
    gray = Image.fromarray(np.rint(255 * pixels).astype(np.uint8))
    return encode_png(np.asarray(gray.reduce(-(-max(gray.size) // _PICTURE_SIDE))))


def _own_hosts(host: str) -> set[str]:
    machine = socket.gethostname()
    return {*_OWN_NAMES, *((machine, f"{machine}.local") if host in _EVERYWHERE else (host,))}


def _add_page(app: FastAPI) -> None:
    """Serve the files of the page: they are read once, so that no name from outside is ever looked for on the disk."""
    for file in files("vwkde.inspection.server").joinpath("page").iterdir():
        if kind := _KINDS.get(Path(file.name).suffix):
            reply = Response(file.read_bytes(), media_type=kind, headers={"Cache-Control": "no-cache"})
            where = "/" if file.name == "index.html" else f"/{file.name}"
            app.add_api_route(where, _constant(reply), include_in_schema=False, response_class=Response)


def _constant(reply: Response) -> Any:
    async def answer() -> Response:
        return reply

    return answer


def _add_problems(app: FastAPI) -> None:
    """Tell whatever goes wrong in one line."""

    def told(status: int) -> Any:
        async def answer(_: Request, error: Exception) -> JSONResponse:
            return JSONResponse({"detail": " ".join(str(error).split())}, status)

        return answer

    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        return JSONResponse({"detail": f"{where}: {first['msg']}. See /openapi.json for what is expected."}, 422)

    app.add_exception_handler(ValueError, told(422))
    app.add_exception_handler(ChangedFileError, told(409))
    app.add_exception_handler(NotSavedError, told(507))
    app.exception_handler(RequestValidationError)(invalid)
