"""Connections whose clients take too long are closed, so that idle and slow ones cannot keep others out.

A connection is busy from the moment a request has arrived until its reply begins: then the server is at work. At any
other time the server waits for the client, and only so long. If there are too many connections, the one that has waited
longest for its client is closed for a new one: an honest client needs a fraction of a second.
"""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from vwkde.inspection.server.limits import HEADER_SECONDS, MOST_CONNECTIONS, REQUEST_SECONDS

_PAUSE = 0.5
"""Seconds between two looks at a connection."""
_LATE = b"The request did not arrive in time."


class Patient(H11Protocol):
    """A connection with limited patience."""

    most_connections = MOST_CONNECTIONS
    header_seconds = HEADER_SECONDS
    request_seconds = REQUEST_SECONDS

    waits_since = 0.0
    """When the server began to wait for the client."""
    _look: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request; if there are too many connections, close one."""
        super().connection_made(transport)
        self.waits_since = self.loop.time()
        self._look = self.loop.call_later(_PAUSE, self._look_after)
        if len(self.connections) > self.most_connections:
            others = [each for each in self.connections if isinstance(each, Patient) and not each.is_busy]
            min(others, key=lambda each: each.waits_since, default=self).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        if self._look is not None:
            self._look.cancel()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """Close when the server ends: at once if the client is being waited for, else after the reply."""
        if self.is_busy:
            super().shutdown()
        else:
            self.transport.abort()

    @property
    def is_busy(self) -> bool:
        """Whether the server is at work for this client."""
        return self._has_request and not self.cycle.more_body and not self.cycle.response_started

    @property
    def _has_request(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _look_after(self) -> None:
        now = self.loop.time()
        if self.is_busy:
            self.waits_since = now
        elif now - self.waits_since > (self.request_seconds if self._has_request else self.header_seconds):
            self._close_late()
            return
        self._look = self.loop.call_later(_PAUSE, self._look_after)

    def _close_late(self) -> None:
        """Tell the client that it is late, if a reply has not begun, and close."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.abort()
            return
        headers = [(b"content-type", b"text/plain"), (b"content-length", b"%d" % len(_LATE)), (b"connection", b"close")]
        for event in (h11.Response(status_code=408, headers=headers), h11.Data(_LATE), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
