"""The inspection as a page in the browser, and as a small JSON API with its OpenAPI document.

Images are uploaded, checked and discarded; only images that are added to the model are kept. The name of an uploaded
file is only a label: no path from a client is ever opened.
"""

from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response

from vwkde._runtime.versions import VERSION
from vwkde.inspection.model.inspector import SurfaceInspector
from vwkde.inspection.server.api_page import api_page
from vwkde.inspection.server.guards import BodyLimit, EndsQuietly, NoCookies, OwnHost, QueueLimit, SafeHeaders
from vwkde.inspection.server.limits import MOST_BYTES, MOST_WAITING, RETRY_SECONDS
from vwkde.inspection.server.listening import is_everywhere, own_hosts
from vwkde.inspection.server.routes import Served, api
from vwkde.inspection.server.station import BusyError, ChangedFileError, NotSavedError, Station
from vwkde.inspection.server.token_guard import TokenGuard
from vwkde.inspection.server.workers import Allowance, LostWorkerError

_KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
"""Media types of the page's files."""


def make_app(
    inspector: SurfaceInspector,
    *,
    path: Path | None = None,
    read_only: bool = False,
    host: str = "127.0.0.1",
    names: Iterable[str] = (),
    token: str | None = None,
    most_bytes: int = MOST_BYTES,
    allowance: Allowance | None = None,
    most_waiting: int = MOST_WAITING,
) -> FastAPI:
    """Return the application that serves a page and an API for the inspector.

    Good images that are added are saved to `path`, if it is given, and changes of this file by others are taken up.
    `host` and `names` are the names of the server for clients, in addition to the local names of this machine. With a
    `token`, only clients that know it are served.
    """
    station = Station(inspector, path, allowance, most_waiting)
    app = FastAPI(title="vwkde inspect", version=VERSION, docs_url=None, redoc_url=None)
    app.state.served = Served(station, path.name if path is not None else "model", read_only, most_bytes)
    app.include_router(api)
    _add_page(app)
    _add_problems(app)
    app.add_middleware(BodyLimit, most_bytes=most_bytes)
    app.add_middleware(QueueLimit, is_full=lambda: station.is_full)
    app.add_middleware(NoCookies)
    if token is not None:
        app.add_middleware(TokenGuard, token=token)
    app.add_middleware(OwnHost, hosts={*own_hosts(host), *names}, any_address=is_everywhere(host))
    app.add_middleware(SafeHeaders)
    app.add_middleware(EndsQuietly)
    return app


def _add_page(app: FastAPI) -> None:
    """Serve the files of the page. They are read once, so that no name from a request is ever looked up on the disk."""
    for file in files("vwkde.inspection.server").joinpath("page").iterdir():
        if kind := _KINDS.get(Path(file.name).suffix):
            reply = Response(file.read_bytes(), media_type=kind, headers={"Cache-Control": "no-cache"})
            where = "/" if file.name == "index.html" else f"/{file.name}"
            app.add_api_route(where, _constant(reply), include_in_schema=False, response_class=Response)
    about = Response(api_page(app.openapi()), media_type="text/html", headers={"Cache-Control": "no-cache"})
    app.add_api_route("/api.html", _constant(about), include_in_schema=False, response_class=Response)


def _constant(reply: Response) -> Any:
    async def answer() -> Response:
        return reply

    return answer


def _add_problems(app: FastAPI) -> None:
    """Report every error in one line."""

    def with_status(status: int) -> Any:
        headers = {"Retry-After": str(RETRY_SECONDS)} if status == 503 else None

        async def answer(_: Request, error: Exception) -> JSONResponse:
            return JSONResponse({"detail": " ".join(str(error).split())}, status, headers)

        return answer

    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        return JSONResponse({"detail": f"{where}: {first['msg']}. See /openapi.json for the expected format."}, 422)

    app.add_exception_handler(ValueError, with_status(422))
    app.add_exception_handler(BusyError, with_status(503))
    app.add_exception_handler(LostWorkerError, with_status(422))
    app.add_exception_handler(ChangedFileError, with_status(409))
    app.add_exception_handler(NotSavedError, with_status(507))
    app.exception_handler(RequestValidationError)(invalid)
