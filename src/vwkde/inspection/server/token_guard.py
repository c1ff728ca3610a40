"""A secret that clients must know if the server can be reached from other machines, if only through a proxy.

The server prints a link that contains it. A browser that opens the link gets a cookie and is sent to the address
without the secret; programs send a header. All travels unencrypted: encryption is left to a proxy.
"""

import os
import re
import secrets
from collections.abc import Iterator
from urllib.parse import parse_qs

from fastapi.responses import JSONResponse, RedirectResponse
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

VARIABLE = "VWKDE_TOKEN"
"""The environment variable that may contain the token: other users of the machine can read command lines."""
_COOKIE = "vwkde_token"
_SHORTEST = 16
"""Minimum length of a token that somebody chooses."""
_ACCEPTABLE = re.compile(rf"[A-Za-z0-9._~-]{{{_SHORTEST},}}")
_BEARER = "bearer "


def choose_token(given: str | None, private: bool) -> str | None:
    """Return the token: the given one, or the one of the environment; else a new one unless the server is private."""
    token = given if given is not None else os.environ.get(VARIABLE)
    if token is None:
        return None if private else secrets.token_urlsafe(24)
    if not _ACCEPTABLE.fullmatch(token):
        raise ValueError(
            f"The token must have at least {_SHORTEST} characters: letters, digits, and the marks - . _ ~. "
            f"Got {len(token)} characters instead; choose another, or give none to have one made."
        )
    return token


class TokenGuard:
    """Refuses requests without the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self.app = app
        self.token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on."""
        if scope["type"] != "http" or self._is_known(Headers(scope=scope)):
            await self.app(scope, receive, send)
        elif scope["method"] == "GET" and scope["path"] == "/" and self._is(_in_query(scope)):
            await self._welcome(scope, receive, send)
        else:
            reason = "Open the link that the server printed, or send the header 'Authorization: Bearer TOKEN'."
            headers = {"WWW-Authenticate": "Bearer", "Connection": "close"}
            await JSONResponse({"detail": reason}, 401, headers)(scope, receive, send)

    async def _welcome(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Give the browser a cookie, and send it to the address without the token."""
        reply = RedirectResponse("/", 303)
        reply.set_cookie(_COOKIE, self.token, httponly=True, samesite="lax")  # strict is not sent after a redirect
        await reply(scope, receive, send)

    def _is_known(self, headers: Headers) -> bool:
        stated = headers.get("authorization", "")
        if stated.lower().startswith(_BEARER) and self._is(stated[len(_BEARER) :].strip()):
            return True
        return any(map(self._is, _in_cookies(headers)))

    def _is(self, token: str) -> bool:
        return secrets.compare_digest(token.encode(), self.token.encode())


def _in_cookies(headers: Headers) -> Iterator[str]:
    """Give the values of our cookie as they are. They have no quotes, and parsers of quotes can take very long."""
    for cookie in ";".join(headers.getlist("cookie")).split(";"):
        name, _, value = cookie.partition("=")
        if name.strip() == _COOKIE:
            yield value.strip()


def _in_query(scope: Scope) -> str:
    return parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
