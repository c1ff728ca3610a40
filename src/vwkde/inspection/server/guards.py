"""Checks of every request: the host it names, its origin, its size, and whether there is room for it.

Every page in a browser can send requests to a server on the same machine. Such a page may let its own name point to
this machine (DNS rebinding), or post a form to it. So a request must name a host of this server, and a request that
changes or computes anything must not come from a page of another origin.
"""

import re
from asyncio import CancelledError
from collections.abc import Callable, Iterable
from ipaddress import ip_address
from urllib.parse import urlsplit

from fastapi import HTTPException
from fastapi.responses import JSONResponse
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vwkde.inspection.server.limits import RETRY_SECONDS

_SAFE = ("GET", "HEAD", "OPTIONS")
"""HTTP methods that change nothing."""

_HOST = re.compile(r"(?:\[([^][@/?#\s]+)\]|([^][@/?#\s:]+))(?::[0-9]*)?")
"""An IPv6 address in brackets or a name, then perhaps a port; unlike in a URL, there is no user and no path."""

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class OwnHost:
    """Refuses requests that name another host, or come from a page of another origin."""

    def __init__(self, app: ASGIApp, hosts: Iterable[str], any_address: bool = False) -> None:
        self.app = app
        self.hosts = frozenset(host.lower() for host in hosts)
        self.any_address = any_address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on."""
        reason = self._refusal(scope["method"], Headers(scope=scope)) if scope["type"] == "http" else None
        if reason is None:
            await self.app(scope, receive, send)
        else:
            await JSONResponse({"detail": reason}, 403)(scope, receive, send)

    def _refusal(self, method: str, headers: Headers) -> str | None:
        host = headers.get("host", "")
        if not self._is_own(host):
            return f"{_shortened(host)} is not a name of this server; use the address that it printed."
        origin = headers.get("origin")
        if method not in _SAFE and origin is not None and _place(origin) != host.lower():
            return "This request comes from a page of another site and was refused."
        return None

    def _is_own(self, host: str) -> bool:
        found = _HOST.fullmatch(host)
        name = (found[1] or found[2]).lower() if found else ""
        return name in self.hosts or (self.any_address and _is_address(name))


class BodyLimit:
    """Refuses bodies above a size: at once if the length is stated, otherwise as soon as the limit is passed."""

    def __init__(self, app: ASGIApp, most_bytes: int) -> None:
        self.app = app
        self.most_bytes = most_bytes
        self.reason = f"The upload is larger than {most_bytes / 2**20:g} MiB; send a smaller image."

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on."""
        stated = Headers(scope=scope).get("content-length", "") if scope["type"] == "http" else ""
        if stated.isdecimal() and int(stated) > self.most_bytes:
            await JSONResponse({"detail": self.reason}, 413, {"Connection": "close"})(scope, receive, send)
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self.most_bytes:
                raise HTTPException(413, self.reason, {"Connection": "close"})
            return message

        await self.app(scope, counted, send)


class QueueLimit:
    """Refuses requests that send something while too much work is waiting, before they are read."""

    def __init__(self, app: ASGIApp, is_full: Callable[[], bool]) -> None:
        self.app = app
        self.is_full = is_full

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on."""
        if scope["type"] != "http" or scope["method"] in _SAFE or not self.is_full():
            await self.app(scope, receive, send)
            return
        headers = {"Retry-After": str(RETRY_SECONDS), "Connection": "close"}
        reason = "The server has too much to do. Try again in a moment."
        await JSONResponse({"detail": reason}, 503, headers)(scope, receive, send)


class NoCookies:
    """Takes cookies from requests: the application needs none, and to parse what a client sends can take very long."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on without cookies."""
        if scope["type"] == "http":
            scope = {**scope, "headers": [each for each in scope["headers"] if each[0].lower() != b"cookie"]}
        await self.app(scope, receive, send)


class EndsQuietly:
    """Tells clients whose request is cut off when the server ends; else the server would print a traceback."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, and answer if it is cut off."""
        has_begun = False

        async def noted(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self.app(scope, receive, noted)
        except CancelledError:
            if scope["type"] == "http" and not has_begun:
                await JSONResponse({"detail": "The server is being stopped."}, 503)(scope, receive, send)


class SafeHeaders:
    """Adds headers that forbid pages to load or embed anything from other sites, and replies to be cached."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, and add the headers to the answer."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self.app(scope, receive, with_headers)


def _place(origin: str) -> str | None:
    """Return the host and port of an origin; None if it is malformed."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _shortened(host: str) -> str:
    return repr(host if len(host) <= 60 else f"{host[:60]}…")
