"""Where a server listens, and its host names."""

import socket
from collections.abc import Iterable
from ipaddress import ip_address
from urllib.parse import quote

import uvicorn
from fastapi import FastAPI

from vwkde.inspection.server.patience import Patient

_EVERYWHERE = ("0.0.0.0", "::")
"""Hosts that mean all addresses of this machine."""
_OWN_NAMES = ("localhost", "127.0.0.1", "::1")


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on this address; port 0 is any free port."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family)
    except OSError as error:
        raise ValueError(
            f"The server cannot listen on {host}:{port} ({error.strerror or error}). Choose another port, or 0 for any "
            "free port."
        ) from None


def is_private(listener: socket.socket, names: Iterable[str] = ()) -> bool:
    """Return whether only this machine can reach the socket; a name for others means that a proxy lets them in."""
    return all(map(_is_loopback, (listener.getsockname()[0], *names)))


def _is_loopback(host: str) -> bool:
    try:
        return host.lower() == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def address(listener: socket.socket, token: str | None = None) -> str:
    """Return the address to open in a browser on this machine; with a token, a link that contains it."""
    host, port = listener.getsockname()[:2]
    name = "localhost" if host in _EVERYWHERE else f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/" + (f"?token={quote(token, safe='')}" if token is not None else "")


def make_server(app: FastAPI) -> uvicorn.Server:
    """Return a server of the application; `run(sockets=[…])` serves until it is interrupted."""
    config = uvicorn.Config(
        app,
        log_level="error",  # whatever a client sends is no reason to fill the log
        ws="none",
        proxy_headers=False,
        server_header=False,
        http=Patient,
        lifespan="off",
        timeout_graceful_shutdown=5,
    )
    return _Server(config)


class _Server(uvicorn.Server):
    """A server that ends its workers last. A second Ctrl-C would cut off the same work as a part of the application."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End."""
        try:
            await super().shutdown(sockets)
        finally:
            self.config.app.state.served.station.close()  # type: ignore[union-attr]


def is_everywhere(host: str) -> bool:
    """Return whether a host means all addresses of this machine."""
    return host in _EVERYWHERE


def own_hosts(host: str) -> set[str]:
    """Return the names of a server that listens on this host."""
    machine = socket.gethostname()
    return {*_OWN_NAMES, *((machine, f"{machine}.local") if is_everywhere(host) else (host,))}
