"""Many clients at once, with images of real size: none hangs, and every reply is that of the model in use."""

import signal
import socket
from contextlib import suppress
from copy import copy
from functools import cache, partial
from http.client import HTTPException
from threading import Semaphore

import pytest

for package in ("fastapi", "uvicorn", "python_multipart", "safetensors"):
    pytest.importorskip(package)

from support.serving import as_seen, file_of, serving_process, stacks_of, surface  # noqa: E402
from support.together import PATIENCE, together  # noqa: E402
from vwkde.inspection import SurfaceInspector  # noqa: E402

SIDE = 512
GOOD = 4
IMAGES = [surface(100, side=SIDE), surface(101, defect=True, side=SIDE)]
FILES = [file_of(image) for image in IMAGES]
CLIENTS = (2, 4, 16)
CHECKS = {"gradient": 16, "texture": 4}
"""Images that the clients send together, but each at least one."""


class Line:
    """A model, the server that uses and grows it, and what the model says when it is asked alone."""

    def __init__(self, site, process, model):
        self.site, self.process, self.features = site, process, model.features
        self.models = {GOOD: model}

    def check(self, image):
        status, reply = self.site.send("/api/check", FILES[image], f"{image}.png")
        assert status == 200, reply
        return image, reply

    def add(self):
        """Add the next good image."""
        count = max(self.models)
        name, pixels = f"added {count}.png", surface(200 + count, side=SIDE)
        status, reply = self.site.send("/api/add", file_of(pixels), name)
        assert status == 200, reply
        self.models[count + 1] = copy(self.models[count]).add([(name, as_seen(pixels))])
        return reply["good_images"]

    @cache  # noqa: B019  a line lasts as long as its server
    def alone(self, good_images, image):
        return self.models[good_images].check(as_seen(IMAGES[image]))


@cache
def fitted(features):
    inspector = SurfaceInspector(features=features, candidates=3, false_reject_rate=0.2)
    return inspector.fit([(f"good {seed}.png", as_seen(surface(seed, side=SIDE))) for seed in range(GOOD)])


@pytest.fixture(scope="module", params=["gradient", "texture"])
def line(request, tmp_path_factory):
    path = tmp_path_factory.mktemp(request.param) / "line.vwkde"
    fitted(request.param).save(path)
    with serving_process(path, PATIENCE) as (site, process):
        yield Line(site, process, SurfaceInspector.load(path))


@pytest.mark.parametrize("clients", CLIENTS)
def test_every_client_gets_what_the_model_in_use_says_alone(line, clients):
    before = max(line.models)
    checks = max(1, CHECKS[line.features] // clients)

    def send(client):
        return [line.check((client + number) % len(IMAGES)) for number in range(checks)]

    def send_and_add():
        return [*send(0), line.add(), line.check(0)]

    try:
        (*first, added, last), *others = together(
            send_and_add, *(partial(send, client) for client in range(1, clients))
        )
    except (AssertionError, TimeoutError):
        pytest.fail(stacks_of(line.process))
    assert added == before + 1
    assert last[1]["good_images"] == added
    replies = [*first, last, *(reply for each in others for reply in each)]
    assert len(replies) == clients * checks + 1
    for image, reply in replies:
        alone = line.alone(reply["good_images"], image)
        assert reply["score"] == pytest.approx(alone.score, rel=1e-9)
        assert (reply["name"], reply["verdict"]) == (f"{image}.png", alone.verdict)
        assert (reply["p_value"], reply["nearest_good"]) == (alone.p_value, alone.nearest)


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_server_under_load_without_a_word(tmp_path, ending):
    path = tmp_path / "line.vwkde"
    fitted("gradient").save(path)
    with serving_process(path, PATIENCE) as (site, process):

        def send():
            with suppress(OSError, HTTPException):  # as soon as the server is gone
                while site.send("/api/check", FILES[0])[0] == 200:
                    answered.release()

        def interrupt():
            for _ in range(8):
                answered.acquire()
            process.send_signal(ending)
            said.extend(process.communicate(timeout=PATIENCE))

        answered, said = Semaphore(0), []
        with socket.create_connection((site.host, site.port), PATIENCE) as upload:
            upload.sendall(b"POST /api/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nunfin")
            together(*[send] * 4, interrupt)
    assert (process.returncode, said) == (0, ["", ""])
