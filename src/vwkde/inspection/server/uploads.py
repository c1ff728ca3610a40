"""What clients send: names become labels, forms have one file, bodies are read up to a limit."""

import unicodedata
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from tempfile import SpooledTemporaryFile
from typing import Any

from fastapi import HTTPException, Request, UploadFile
from fastapi.responses import Response
from fastapi.routing import APIRoute
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException as StarletteHTTPException

_LONGEST_NAME = 200
_IN_MEMORY = 2**20
"""Bytes of a body that are kept in memory while it waits; the rest is in a temporary file."""


def label(name: str) -> str:
    """Return a file name from a client as a label: no folders, no control characters, and not too long."""
    printable = "".join(character for character in name if unicodedata.category(character)[0] != "C")
    last = printable.replace("\\", "/").rsplit("/", 1)[-1].strip()[:_LONGEST_NAME]
    return last if last.strip(".") else "image"


class OneFile(APIRoute):
    """A route that takes forms of one file and no fields: these would be kept in memory while the rest is awaited."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the usual handler, but for forms of this kind."""
        handle = super().get_route_handler()

        async def answer(request: Request) -> Response:
            return await handle(_OneFileRequest(request.scope, request.receive))

        return answer


class _OneFileRequest(Request):
    async def form(self) -> FormData:  # type: ignore[override]
        """Return the file; anything else is refused as soon as it is seen."""
        kind = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "multipart/form-data":
            raise _no_form("The body is not multipart/form-data.")
        try:
            return await super().form(max_files=1, max_fields=0)
        except StarletteHTTPException as error:
            raise (_no_form(error.detail) if error.status_code == 400 else error) from None


def _no_form(reason: str) -> HTTPException:
    return HTTPException(
        400, f"{reason} Send a form with one file, named image, and nothing else.", {"Connection": "close"}
    )


class Sent:
    """A file or a body that waits for its turn."""

    def __init__(self, request: Request, file: UploadFile) -> None:
        self._request, self._file = request, file

    async def read(self) -> bytes:
        """Return the bytes; an error if the client is gone, since nobody would see the result."""
        if await self._request.is_disconnected():
            raise HTTPException(499, "The client is gone.")
        return await self._file.read()


@asynccontextmanager
async def body_of(request: Request, most_bytes: int) -> AsyncIterator[Sent]:
    """Give the body of a request for the length of a `with` statement; status 413 if it is larger than the limit."""
    reason = f"The body is larger than {most_bytes / 2**20:g} MiB; send fewer rows."
    stated = request.headers.get("content-length", "")
    if stated.isdecimal() and int(stated) > most_bytes:
        raise HTTPException(413, reason, {"Connection": "close"})
    with SpooledTemporaryFile(max_size=_IN_MEMORY) as spool:
        body: Any = spool
        file, seen = UploadFile(body), 0
        async for piece in request.stream():
            seen += len(piece)
            if seen > most_bytes:
                raise HTTPException(413, reason, {"Connection": "close"})
            await file.write(piece)
        await file.seek(0)
        yield Sent(request, file)
