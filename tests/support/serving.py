"""A server on a free port, surfaces to send to it, and requests."""

import http.client
import io
import json
import re
import signal
import subprocess
import sys
import threading
import time
import uuid
import warnings
from contextlib import contextmanager
from copy import copy
from functools import cache

import numpy as np
from PIL import Image
from scipy import ndimage

from vwkde.inspection import SurfaceInspector
from vwkde.inspection.server.app import make_app
from vwkde.inspection.server.listening import listen, make_server

SIDE = 128
GOOD = 22


def surface(seed, defect=False, side=SIDE):
    """Return a rough surface as 8-bit gray; a defect is a smooth square in its lower right."""
    image = ndimage.gaussian_filter(np.random.default_rng(seed).normal(size=(side, side)), 1.5)
    if defect:
        image[64:112, 64:112] = ndimage.gaussian_filter(image, 6)[64:112, 64:112]
    return np.clip(128 + 128 * image, 0, 255).astype(np.uint8)


def file_of(pixels, kind="PNG"):
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, kind)
    return file.getvalue()


def as_seen(pixels):
    return pixels.astype(np.float32) / np.float32(255)


def fit_surfaces(count=GOOD):
    return copy(_fitted(count))


@cache
def _fitted(count):
    good = [(f"good {seed}.png", as_seen(surface(seed))) for seed in range(count)]
    return SurfaceInspector(features="gradient", candidates=3, n_threads=2).fit(good)


class Address:
    """Where a server listens, and how to ask it."""

    def __init__(self, host, port, patience=120):
        self.host, self.port, self.patience = host, port, patience
        self.url = f"http://{host}:{port}/"

    def ask(self, method, path, body=None, headers=()):
        """Return the status, the headers and the body of the answer, JSON being read."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=self.patience)
        try:
            connection.request(method, path, body, dict(headers))
            reply = connection.getresponse()
            data = reply.read()
        finally:
            connection.close()
        is_json = reply.headers.get("content-type", "").startswith("application/json")
        return reply.status, reply.headers, json.loads(data) if is_json else data

    def send(self, path, data, name="image.png", headers=()):
        """Post a file as browsers and curl do, and return the status and the answer."""
        body, kind = form(data, name)
        status, _, found = self.ask("POST", path, body, {"Content-Type": kind, **dict(headers)})
        return status, found

    def model(self):
        return self.ask("GET", "/api/model")[2]


def form(data, name="image.png", field="image"):
    boundary = uuid.uuid4().hex
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"; filename="{name}"\r\n\r\n'
    return head.encode() + data + f"\r\n--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


@contextmanager
def served(inspector, **options):
    """Serve an inspector on a thread of its own for the length of a `with` statement."""
    listener = listen("127.0.0.1", 0)
    running = make_server(make_app(inspector, **options))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        while not running.started:
            time.sleep(0.01)
        yield Address(*listener.getsockname())
    finally:
        running.should_exit = True
        thread.join()


@contextmanager
def serving_process(path, patience):
    """Serve a model file by the command, in a process of its own; give its address and the process."""
    command = [sys.executable, "-X", "faulthandler", "-m", "vwkde.cli", "inspect", "serve", "-m", path, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            line = process.stdout.readline()
            port = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
            assert port, line + process.stderr.read()
            yield Address("127.0.0.1", int(port[1]), patience), process
        finally:
            process.kill()


def stacks_of(process):
    """End a server that hangs, and return what each of its threads was doing."""
    process.send_signal(signal.SIGABRT)
    return process.stderr.read()


@contextmanager
def without_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
