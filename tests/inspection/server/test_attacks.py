"""Hostile and slow clients: what they send is refused early, and others are served meanwhile."""

import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, suppress
from functools import partial
from multiprocessing.process import BaseProcess
from queue import Queue
from threading import Event, Thread

import pytest

for package in ("fastapi", "uvicorn", "python_multipart", "PIL", "safetensors"):
    pytest.importorskip(package)

from support import hostile  # noqa: E402
from support.commands import runner  # noqa: E402
from support.serving import GOOD, file_of, fit_surfaces, served, surface  # noqa: E402
from vwkde.inspection.data.errors import ImageError  # noqa: E402
from vwkde.inspection.data.images import decode_image  # noqa: E402
from vwkde.inspection.server.patience import Patient  # noqa: E402
from vwkde.inspection.server.station import Station  # noqa: E402
from vwkde.inspection.server.token_guard import VARIABLE, choose_token  # noqa: E402
from vwkde.inspection.server.workers import Allowance, LostWorkerError, TooSlowError, Worker  # noqa: E402

FINE = file_of(surface(1_001))
TOKEN = "a-token-long-enough"
HEAD = "POST /api/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=x\r\n"


@pytest.fixture(scope="module")
def site():
    with served(fit_surfaces()) as address:
        address.send("/api/check", FINE)  # the first starts a worker
        yield address


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def test_a_jpeg_of_many_scans_is_refused_before_it_is_decoded():
    usual = decode_image(hostile.jpeg_of_many_scans(64, 0), "usual.jpg")
    assert usual.shape == (64, 64)
    data = hostile.jpeg_of_many_scans(2_000, 2_000)

    def refused():
        with pytest.raises(ImageError, match=r"scans\.jpg: the image has \d{4} scans, too many"):
            decode_image(data, "scans.jpg")

    assert seconds(refused) < 1


def test_a_png_of_many_chunks_is_refused_before_it_is_opened():
    decode_image(hostile.png_of_many_chunks(FINE, 1_000), "some.png")
    data = hostile.png_of_many_chunks(FINE, 2_000_000)

    def refused():
        with pytest.raises(ImageError, match=r"chunks\.png: the file has more than 50,000 chunks"):
            decode_image(data, "chunks.png")

    assert seconds(refused) < 1


def test_a_file_far_larger_than_its_pixels_is_refused(site):
    status, found = site.send("/api/check", FINE + bytes(5 * 2**20), "long.png")
    assert (status, found["detail"]) == (
        422,
        "long.png: the file is far larger than its pixels need; save the image again.",
    )
    assert site.send("/api/check", FINE + bytes(3 * 2**20), "some.png")[0] == 200


def test_another_size_is_refused_by_its_header(monkeypatch):
    from PIL.ImageFile import ImageFile

    long = hostile.png_of_size(1, 4_000_000)
    monkeypatch.setattr(ImageFile, "load", lambda _: pytest.fail("decoded"))
    with pytest.raises(ImageError, match="is 1 × 4000000 pixels, but must have 128 × 128"):
        decode_image(long, "long.png", (128, 128))


@pytest.fixture(scope="module")
def worker():
    worker = Worker(Allowance(seconds=0.3, decode_seconds=0.1, memory=2**29))
    yield worker
    worker.end()


def test_a_task_that_takes_too_long_is_ended_and_the_next_one_done(worker):
    inspector = fit_surfaces()
    assert worker.do(inspector, hostile.answer, 7) == 7
    for task, told in (
        (hostile.compute_while_decoding, "too long to decode"),
        (hostile.sleep_while_decoding, "longer than 1 seconds"),
        (hostile.sleep_after_decoding, r"longer than 0\.3 seconds"),
    ):
        with pytest.raises(TooSlowError, match=told):
            worker.do(inspector, task)
        assert worker.do(inspector, hostile.answer, 8) == 8


@pytest.mark.parametrize("given", ["inf", "nan", "86401", "0"])
def test_a_time_limit_is_a_number_of_seconds_up_to_a_day(capfd, monkeypatch, given):
    status, _, err = runner(capfd, monkeypatch, "inspect", "serve")("-m", "no-such-file", "--max-seconds", given)
    assert status == 2
    assert err.startswith("error: Invalid value for '--max-seconds'")


def test_a_long_time_limit_is_kept_though_the_system_cannot_wait_so_long_at_once(worker):
    assert worker.do(fit_surfaces(), hostile.answer, 7, times=10**8) == 7


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="memory is limited on Linux")
def test_a_task_that_takes_too_much_memory_is_refused_it(worker):
    with pytest.raises(ValueError, match="more memory than the server allows"):
        worker.do(fit_surfaces(), hostile.take_memory, 2**30)
    assert worker.do(fit_surfaces(), hostile.take_memory, 2**20) == 2**17


def test_a_worker_that_is_lost_is_replaced_and_knows_the_model_in_use(worker):
    inspector = fit_surfaces()
    with pytest.raises(LostWorkerError, match="ended by the system"):
        worker.do(inspector, hostile.end_the_process)  # as the system does if it has no memory left
    assert worker.do(inspector, hostile.count_good) == GOOD
    assert worker.do(fit_surfaces(25), hostile.count_good) == 25


def test_a_station_that_is_closed_while_its_workers_start_leaves_none(monkeypatch):
    started, go_on, start = Queue(), Event(), BaseProcess.start

    def start_slowly(process):
        started.put(process)
        assert go_on.wait(10)
        start(process)

    monkeypatch.setattr(BaseProcess, "start", start_slowly)
    station = Station(fit_surfaces())
    station.warm_up()
    processes = [started.get(timeout=10), started.get(timeout=10)]
    with ThreadPoolExecutor(1) as pool:
        closing = pool.submit(station.close)
        wait([closing], 0.2)
        go_on.set()
        closing.result(60)
    station._checks.shutdown(wait=True)
    assert not any(process.is_alive() for process in processes)
    assert started.empty()


def test_a_large_table_holds_up_nobody(site):
    row = {"image": "a", "verdict": "NG", "score": 1, "boxes": [[1, 2, 3, 4]] * 10_000}
    headers = {"Content-Type": "application/json"}
    with socket.create_connection((site.host, site.port), 10) as line:
        line.sendall(b"POST /api/scores.csv HTTP/1.1\r\nHost: localhost\r\nContent-Length: 31000000\r\n\r\n")
        assert line.makefile("rb").readline().startswith(b"HTTP/1.1 413 ")
    body = json.dumps([row] * 50)
    statuses = []
    client = Thread(target=lambda: statuses.append(site.ask("POST", "/api/scores.csv", body, headers)[0]))
    client.start()
    waits = [seconds(site.model) for _ in range(20)]
    client.join()
    assert statuses == [200]
    assert max(waits) < 2


def test_idle_connections_keep_nobody_out(site, monkeypatch):
    monkeypatch.setattr(Patient, "most_connections", 20)
    with ExitStack() as stack:
        for _ in range(60):
            stack.enter_context(socket.create_connection((site.host, site.port), 10))
        assert site.send("/api/check", FINE)[0] == 200


@pytest.mark.parametrize("sent", ["", "POST /api", f"{HEAD}Content-Length: 1000\r\n\r\n--x\r\n"])
def test_clients_that_send_too_slowly_are_told_and_closed(site, monkeypatch, sent):
    monkeypatch.setattr(Patient, "header_seconds", 0.2)
    monkeypatch.setattr(Patient, "request_seconds", 0.2)
    with socket.create_connection((site.host, site.port), 10) as line:
        line.sendall(sent.encode())
        reply = line.makefile("rb").read()
    assert reply.startswith(b"HTTP/1.1 408 ")


def test_trickling_bytes_do_not_keep_a_connection(site, monkeypatch):
    monkeypatch.setattr(Patient, "header_seconds", 0.5)
    start = time.perf_counter()
    with socket.create_connection((site.host, site.port), 10) as line, suppress(ConnectionError):
        while time.perf_counter() - start < 20:
            line.sendall(b"G")
            time.sleep(0.05)
    assert time.perf_counter() - start < 15


@pytest.mark.parametrize("disposition", ["name=note", "name=image", "name=image; filename=second.png"])
def test_a_form_has_one_file_and_nothing_else_that_would_be_kept_in_memory(site, disposition):
    head, part = "--x\r\nContent-Disposition: form-data; ", "name=image; filename=a.png\r\n\r\n"
    sent = f"{HEAD}Content-Length: 1000000\r\n\r\n{head}{part}\r\n{head}{disposition}\r\n\r\n"
    with socket.create_connection((site.host, site.port), 10) as line:
        line.sendall(sent.encode())
        reply = line.makefile("rb").read().decode()  # comes before the rest is sent
    assert reply.startswith("HTTP/1.1 400 ")
    assert "Send a form with one file, named image, and nothing else." in reply


def test_a_body_that_can_hold_no_file_is_not_read(site):
    sent = HEAD.replace("multipart/form-data; boundary=x", "application/x-www-form-urlencoded")
    with socket.create_connection((site.host, site.port), 10) as line:
        line.sendall(f"{sent}Content-Length: 1000000\r\n\r\nimage=".encode())
        reply = line.makefile("rb").read().decode()
    assert reply.startswith("HTTP/1.1 400 ")
    assert "The body is not multipart/form-data." in reply


def test_a_server_with_too_much_to_do_says_so_before_it_reads():
    with served(fit_surfaces(), most_waiting=0) as site, socket.create_connection((site.host, site.port), 10) as line:
        line.sendall(f"{HEAD}Content-Length: 1000000\r\n\r\n".encode())
        reply = line.makefile("rb").read().decode()
        assert reply.startswith("HTTP/1.1 503 ")
        assert "\r\nretry-after: 2\r\n" in reply.lower()
        assert site.model()["good_images"] == GOOD


def test_more_than_the_server_takes_is_refused_and_the_rest_done():
    with served(fit_surfaces(), most_waiting=2) as site:
        statuses = []
        clients = [Thread(target=lambda: statuses.append(site.send("/api/check", FINE)[0])) for _ in range(12)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        assert set(statuses) == {200, 503}
        assert site.send("/api/check", FINE)[0] == 200


def test_with_a_token_nothing_is_served_without_it():
    with served(fit_surfaces(), token=TOKEN) as site:
        for path in (
            "/",
            "/api/model",
            "/openapi.json",
            "/api.html",
            "/page.js",
            "/?token=wrong",
            f"/api/model?token={TOKEN}",
        ):
            assert site.ask("GET", path)[0] == 401
        assert site.send("/api/add", FINE)[0] == 401
        for wrong in ("Bearer wrong", "Bearer ", "Basic dTpw", f"Bearer {TOKEN}x", "\xff"):
            assert site.ask("GET", "/api/model", headers={"Authorization": wrong})[0] == 401
        assert site.send("/api/check", FINE, headers={"Authorization": f"Bearer {TOKEN}"})[0] == 200
        status, headers, _ = site.ask("GET", f"/?token={TOKEN}")
        assert (status, headers["location"]) == (303, "/")
        cookie = headers["set-cookie"]
        assert "httponly" in cookie.lower()
        own = {"Cookie": cookie.split(";")[0]}
        assert site.ask("GET", "/", headers=own)[0] == 200
        assert site.send("/api/check", FINE, headers=own)[0] == 200
        assert site.ask("GET", "/", headers={"Cookie": "vwkde_token=wrong; ="})[0] == 401


@pytest.mark.parametrize("token", [None, TOKEN])
def test_a_cookie_that_is_long_to_read_is_not_read(token):
    slow = 'vwkde_token="' + "\\" * 50_000 + '"'
    with served(fit_surfaces(), token=token) as site:
        for path in ("/", "/api/model"):
            assert seconds(partial(site.ask, "GET", path, headers={"Cookie": slow})) < 1
        for known in (f'a="\\"; vwkde_token={TOKEN} ;b', f"vwkde_token=old; vwkde_token={TOKEN}"):
            assert site.ask("GET", "/api/model", headers={"Cookie": known})[0] == 200


def test_the_token_is_given_or_made_where_others_can_reach_the_server(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    assert choose_token(None, private=True) is None
    made = {choose_token(None, private=False) for _ in range(3)}
    assert len(made) == 3
    assert min(map(len, made)) >= 32
    monkeypatch.setenv(VARIABLE, "from-the-environment")
    assert choose_token(None, private=True) == "from-the-environment"
    assert choose_token(TOKEN, private=True) == TOKEN
    for bad in ("", "short", "with spaces in the middle", "a-token-long-enough\n", "ü" * 20):
        with pytest.raises(ValueError, match="The token must have at least 16 characters"):
            choose_token(bad, private=False)
