"""Replies and refusals of the server."""

import base64
import csv
import errno
import io
import json
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import zlib
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest

for package in ("fastapi", "uvicorn", "python_multipart", "PIL", "safetensors"):
    pytest.importorskip(package)

from PIL import Image  # noqa: E402

from support.serving import (  # noqa: E402
    GOOD,
    SIDE,
    Address,
    as_seen,
    file_of,
    fit_surfaces,
    form,
    served,
    surface,
    without_warnings,
)
from vwkde.cli.inspect import serve  # noqa: E402
from vwkde.inspection import SurfaceInspector  # noqa: E402
from vwkde.inspection.data.files import IMAGE_SUFFIXES  # noqa: E402
from vwkde.inspection.data.images import MOST_PIXELS  # noqa: E402
from vwkde.inspection.model.map_colours import map_colours  # noqa: E402
from vwkde.inspection.server import listening  # noqa: E402
from vwkde.inspection.server.guards import OwnHost  # noqa: E402
from vwkde.inspection.server.tasks import coloured_map, small_png  # noqa: E402
from vwkde.inspection.server.token_guard import VARIABLE  # noqa: E402
from vwkde.inspection.server.uploads import label  # noqa: E402

FINE, BAD = surface(1_001), surface(2_000, defect=True)


@pytest.fixture(scope="module")
def inspector():
    return fit_surfaces()


@pytest.fixture(scope="module")
def site(inspector):
    with served(inspector) as address:
        yield address


@pytest.fixture
def model_file(inspector, tmp_path):
    inspector.save(tmp_path / "part.vwkde")
    return tmp_path / "part.vwkde"


def bomb():
    """Return a PNG that claims 30,000 × 30,000 pixels."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 30_000, 30_000, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(1_000)))


def animation():
    file = io.BytesIO()
    frames = [Image.fromarray(surface(seed)) for seed in (1, 2)]
    frames[0].save(file, "PNG", save_all=True, append_images=frames[1:])
    return file.getvalue()


def test_the_model_is_described(site, inspector):
    found = site.model()
    assert found["good_images"] == GOOD
    assert (found["image_width"], found["image_height"]) == (SIDE, SIDE)
    assert found["features"] == "gradient"
    assert found["threshold"] == inspector.calibration_.threshold
    assert found["map_threshold"] == inspector.map_calibration_.threshold
    assert found["good_scores"] == inspector.calibration_.scores.tolist()
    assert found["false_reject_rate"] == 0.05
    assert found["most_pixels"] == MOST_PIXELS
    assert found["most_bytes"] == 32 * 2**20
    assert found["suffixes"] == list(IMAGE_SUFFIXES)
    assert not found["read_only"]


@pytest.mark.parametrize(("pixels", "verdict"), [(FINE, "OK"), (BAD, "NG")])
def test_an_image_is_judged_as_the_library_judges_it(site, inspector, pixels, verdict):
    status, found = site.send("/api/check", file_of(pixels), "a part.png")
    expected = inspector.check(as_seen(pixels), "a part.png")
    assert status == 200
    assert found["name"] == "a part.png"
    assert found["verdict"] == verdict == expected.verdict
    assert found["score"] == expected.score
    assert found["p_value"] == expected.p_value
    assert found["threshold"] == expected.threshold
    assert found["nearest_good"] == expected.nearest
    assert found["map_peak"] == expected.log_ratio.max()
    assert found["good_images"] == GOOD
    assert found["milliseconds"] > 0
    assert [tuple(box.values()) for box in found["boxes"]] == [
        tuple(vars(box).values()) for box in expected.shown_boxes
    ]
    assert len(found["boxes_if_rejected"]) == len(expected.boxes_if_rejected) > 0
    assert bool(found["boxes"]) == (verdict == "NG")
    colours = np.asarray(Image.open(io.BytesIO(base64.b64decode(found["map_png"]))))
    np.testing.assert_array_equal(colours, map_colours(expected.log_ratio, expected.coloured_from))
    if verdict == "NG":
        assert colours[70:106, 70:106, 3].mean() > 200
    assert colours[:40, :40, 3].max() == 0


def test_a_large_map_is_reduced(inspector):
    found = inspector.check(as_seen(BAD))
    large = replace(found, log_ratio=np.repeat(np.repeat(found.log_ratio, 20, axis=0), 20, axis=1))
    colours = coloured_map(large)
    assert max(colours.shape) <= 1024
    np.testing.assert_allclose(
        colours.mean(axis=(0, 1)), map_colours(found.log_ratio, found.coloured_from).mean(axis=(0, 1)), rtol=0.05
    )


BROKEN = {
    "corrupt": (file_of(FINE)[:2_000], "damaged or cut short"),
    "empty": (b"", r"empty \(0 bytes\)"),
    "text": (b"this is no image", "not an image of a known kind"),
    "wrong size": (file_of(np.zeros((50, 40), np.uint8)), "40 × 50 pixels, but must have 128 × 128"),
    "bomb": (bomb(), "more than 64,000,000 pixels"),
    "animation": (animation(), "more than one frame"),
}


@pytest.mark.parametrize("path", ["/api/check", "/api/add"])
@pytest.mark.parametrize("kind", BROKEN)
def test_a_bad_file_is_told_in_one_line_with_its_name(site, path, kind):
    data, reason = BROKEN[kind]
    status, found = site.send(path, data, f"{kind}.png")
    assert status == 422
    assert found["detail"].startswith(f"{kind}.png: ")
    assert re.search(reason, found["detail"])
    assert "\n" not in found["detail"]
    assert site.model()["good_images"] == GOOD


def test_an_image_without_texture_is_rejected(site):
    flat = file_of(np.full((SIDE, SIDE), 128, np.uint8))
    with without_warnings():
        status, found = site.send("/api/check", flat)
    assert (status, found["verdict"]) == (200, "NG")
    assert site.model()["good_images"] == GOOD


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("../../etc/passwd.png", "passwd.png"),
        ("/etc/cron.d/a.png", "a.png"),
        ("C:\\Windows\\win.png", "win.png"),
        ("..", "image"),
        ("folder/", "image"),
        ("", "image"),
        ("a\x1b[31m\u202eb\x00.png", "a[31mb.png"),
        ("a\r\nSet-Cookie: x.png", "aSet-Cookie: x.png"),
        ("ü日本.png", "ü日本.png"),
    ],
)
def test_names_become_labels(sent, shown):
    assert label(sent) == shown


def test_a_name_is_never_a_path(site):
    status, found = site.send("/api/check", file_of(FINE), "../../../etc/passwd")
    assert (status, found["name"]) == (200, "passwd")
    status, found = site.send("/api/check", b"", "x" * 1_000 + ".png")
    assert status == 422
    assert len(found["detail"]) < 400
    for path in ("/../../etc/passwd", "/..%2f..%2fetc%2fpasswd", "/server.py", "/page/index.html", "/docs", "/redoc"):
        assert site.ask("GET", path)[0] == 404


def test_too_large_an_upload_is_refused_before_it_is_sent(inspector):
    with served(inspector, most_bytes=100_000) as site, socket.create_connection((site.host, site.port), 10) as line:
        head = "POST /api/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=x\r\n"
        line.sendall(f"{head}Content-Length: 100001\r\n\r\n".encode())
        assert b" 413 " in line.makefile("rb").readline()
        assert site.send("/api/check", file_of(FINE))[0] == 200


def test_too_large_a_stream_is_refused_while_it_comes(inspector):
    body, kind = form(bytes(400_000))
    pieces = [body[start : start + 10_000] for start in range(0, len(body), 10_000)]
    with served(inspector, most_bytes=100_000) as site, socket.create_connection((site.host, site.port), 10) as line:
        line.sendall(
            f"POST /api/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n"
            "Transfer-Encoding: chunked\r\n\r\n".encode()
        )
        for piece in pieces[:11]:  # the last is one more than is allowed: what comes after may not be read any more
            line.sendall(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        reply = line.makefile("rb").read()
    assert b" 413 " in reply.splitlines()[0]
    assert b"larger than" in reply


def test_a_request_without_an_image_is_told_what_is_expected(site):
    body, kind = form(file_of(FINE), field="picture")
    status, _, found = site.ask("POST", "/api/check", body, {"Content-Type": kind})
    assert status == 422
    assert "image" in found["detail"]
    for body in (b"{}", b"", b"--x\r\nnonsense"):
        status, _, found = site.ask("POST", "/api/check", body, {"Content-Type": "multipart/form-data; boundary=x"})
        assert status in (400, 422)
        assert isinstance(found["detail"], str)


def test_what_is_marked_as_good_is_saved_and_survives(inspector, model_file):
    new = surface(5_000)
    with served(inspector, path=model_file) as site:
        status, found = site.send("/api/add", file_of(new), "new one.png")
        assert status == 200
        assert found["good_images"] == GOOD + 1 == site.model()["good_images"]
        assert found["name"] == "part.vwkde"
        judged = site.send("/api/check", file_of(BAD))[1]
    expected = fit_surfaces().add([("new one.png", as_seen(new))])
    loaded = SurfaceInspector.load(model_file)
    assert loaded.names_ == [f"good {seed}.png" for seed in range(GOOD)] + ["new one.png"]
    np.testing.assert_array_equal(loaded.calibration_.scores, expected.calibration_.scores)
    assert found["threshold"] == loaded.calibration_.threshold
    assert judged["score"] == loaded.check(as_seen(BAD)).score
    assert judged["good_images"] == GOOD + 1
    assert len(inspector.names_) == GOOD  # the one that was given is not changed
    assert sorted(path.name for path in model_file.parent.iterdir()) == ["part.vwkde"]


def test_nothing_is_added_if_it_cannot_be_saved(inspector, model_file, monkeypatch):
    before = model_file.read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with served(inspector, path=model_file) as site:
        monkeypatch.setattr(SurfaceInspector, "save", full)
        status, found = site.send("/api/add", file_of(surface(5_000)))
        assert status == 507
        assert found["detail"] == (
            "part.vwkde: the model cannot be saved (No space left on device); nothing was added."
        )
        assert site.model()["good_images"] == GOOD
    assert model_file.read_bytes() == before


def test_somebody_elses_change_of_the_file_is_taken_up(inspector, model_file):
    with served(inspector, path=model_file) as site:
        fit_surfaces().add([("theirs", as_seen(surface(6_000)))]).save(model_file)
        assert site.send("/api/check", file_of(FINE))[1]["good_images"] == GOOD + 1 == site.model()["good_images"]
        status, found = site.send("/api/add", file_of(surface(5_000)), "ours")
        assert (status, found["good_images"]) == (200, GOOD + 2)
        status, found = site.send("/api/add", file_of(surface(5_000)), "ours again")
        assert (status, found["good_images"]) == (200, GOOD + 2)
    loaded = SurfaceInspector.load(model_file)
    assert loaded.names_[GOOD:] == ["theirs", "ours"]
    assert loaded.changes_[-1].who == "client 127.0.0.1"


@pytest.mark.parametrize("content", [None, b"", b"no model at all, but a text that is long enough for a header"])
def test_a_model_file_that_is_gone_or_damaged_stops_additions_but_no_checks(inspector, model_file, content):
    with served(inspector, path=model_file) as site:
        assert site.model()["good_images"] == GOOD
        model_file.unlink() if content is None else model_file.write_bytes(content)
        for _ in range(2):
            status, found = site.send("/api/add", file_of(surface(5_000)))
            assert status == 409
            assert found["detail"].startswith("part.vwkde: nothing was added.")
        assert site.send("/api/check", file_of(FINE))[1]["good_images"] == GOOD
    assert (model_file.read_bytes() if model_file.exists() else None) == content


def test_a_read_only_model_stays_as_it_is(inspector, model_file):
    before = model_file.read_bytes()
    with served(inspector, path=model_file, read_only=True) as site:
        assert site.model()["read_only"]
        status, found = site.send("/api/add", file_of(surface(5_000)))
        assert status == 403
        assert "This server is read-only" in found["detail"]
        assert site.send("/api/check", file_of(FINE))[1]["verdict"] == "OK"
        assert site.model()["good_images"] == GOOD
    assert model_file.read_bytes() == before


def test_checks_see_one_model_whole_while_others_add(inspector, model_file):
    """Each score must come from the model with the number of good images in the reply, despite concurrent changes."""
    query = surface(3_000)
    more = [surface(7_000), query[::-1], surface(7_001)]  # the second is much like the query, so that its score falls
    expected, grown = {GOOD: inspector.check(as_seen(query)).score}, fit_surfaces()
    for number, pixels in enumerate(more):
        grown = grown.add([(f"{number}.png", as_seen(pixels))])
        expected[len(grown.names_)] = grown.check(as_seen(query)).score
    found, failures = [], []

    def check(site):
        while len(found) < 1_000 and not stop.is_set():
            status, reply = site.send("/api/check", file_of(query))
            (found if status == 200 else failures).append((reply.get("good_images"), reply.get("score")))

    stop = threading.Event()
    with served(inspector, path=model_file) as site:
        threads = [threading.Thread(target=check, args=(site,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        statuses = [site.send("/api/add", file_of(pixels), f"{n}.png")[0] for n, pixels in enumerate(more)]
        stop.set()
        for thread in threads:
            thread.join()
        last = site.send("/api/check", file_of(query))[1]
    assert statuses == [200] * 3
    assert not failures
    assert found
    assert all(score == expected[count] for count, score in found)
    assert (last["good_images"], last["score"]) == (GOOD + 3, expected[GOOD + 3])
    assert expected[GOOD + 2] < expected[GOOD]
    assert SurfaceInspector.load(model_file).names_[GOOD:] == ["0.png", "1.png", "2.png"]


def test_images_added_at_once_are_all_kept(inspector, model_file):
    with served(inspector, path=model_file) as site:
        threads = [
            threading.Thread(target=site.send, args=("/api/add", file_of(surface(8_000 + number)), f"{number}.png"))
            for number in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert site.model()["good_images"] == GOOD + 4
    assert sorted(SurfaceInspector.load(model_file).names_[GOOD:]) == ["0.png", "1.png", "2.png", "3.png"]


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8000",
        "192.168.0.7",
        "localhost.evil.example",
        "evil@localhost",
        "localhost/evil",
        "localhost?evil",
        "localhost:evil",
        "[::1",
        "[",
        "",
    ],
)
def test_other_names_of_the_host_are_refused(site, host):
    for method, path in (("GET", "/"), ("GET", "/api/model"), ("POST", "/api/check")):
        status, _, found = site.ask(method, path, headers={"Host": host})
        assert status == 403
        assert "is not a name of this server" in found["detail"]


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1234", "127.0.0.1:8000", "[::1]:8000"])
def test_own_names_of_the_host_are_served(site, host):
    assert site.ask("GET", "/api/model", headers={"Host": host})[0] == 200


def test_posts_from_other_sites_are_refused(site):
    for origin in (
        "http://evil.example",
        "null",
        "https://localhost.evil.example",
        "http://127.0.0.1:1",
        "nonsense",
        "http://[",
    ):
        status, found = site.send("/api/check", file_of(FINE), headers={"Origin": origin})
        assert status == 403
        assert "another site" in found["detail"]
    own = {"Origin": site.url.rstrip("/")}
    assert site.send("/api/check", file_of(FINE), headers=own)[0] == 200


def test_an_open_server_goes_by_its_addresses_but_not_by_any_name():
    guard = OwnHost(None, listening.own_hosts("0.0.0.0"), any_address=True)
    for host in ("192.168.0.7:8000", "[fe80::1]:8000", "localhost", socket.gethostname()):
        assert guard._is_own(host)
    for host in ("evil.example", "192.168.0.7.evil.example"):
        assert not guard._is_own(host)
    assert OwnHost(None, listening.own_hosts("inspection.example"))._is_own("Inspection.example:80")


def test_pages_load_nothing_foreign_and_answers_are_not_kept(site):
    status, headers, page = site.ask("GET", "/")
    assert status == 200
    assert headers["content-type"] == "text/html; charset=utf-8"
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    for path in ("/api/model", "/openapi.json", "/nothing"):
        headers = site.ask("GET", path)[1]
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"
    names = re.findall(r'(?:src|href)="([^"]+)"', page.decode())
    assert {"page.js", "style.css", "icon.svg", "api.html"} == set(names)
    for name in ["style.css", "icon.svg", "page.js", "api.js", "batch.js", "files.js", "viewer.js", "words.js"]:
        status, headers, content = site.ask("GET", f"/{name}")
        assert status == 200
        assert headers["cache-control"] == "no-cache"
        assert not re.search(rb"https?://(?!www\.w3\.org/2000/svg)", content)


def test_the_api_is_documented(site):
    status, _, document = site.ask("GET", "/openapi.json")
    assert status == 200
    methods = {path: list(about) for path, about in document["paths"].items()}
    assert methods == {
        "/api/model": ["get"],
        "/api/check": ["post"],
        "/api/add": ["post"],
        "/api/good": ["get"],
        "/api/picture": ["post"],
        "/api/mask": ["get", "post"],
        "/api/scores.csv": ["post"],
    }
    check = document["paths"]["/api/check"]["post"]
    assert "multipart/form-data" in check["requestBody"]["content"]
    assert check["responses"]["200"]["content"]["application/json"]["schema"] == {
        "$ref": "#/components/schemas/Judgement"
    }
    assert {"413", "422", "403"} <= set(check["responses"])
    assert {"score", "p_value", "verdict"} <= set(document["components"]["schemas"]["Judgement"]["required"])
    status, headers, page = site.ask("GET", "/api.html")
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    text = page.decode()
    assert all(f"{method.upper()} {path}" in text for path, about in methods.items() for method in about)
    assert document["components"]["schemas"]["Judgement"]["properties"]["map_peak"]["description"] in text
    assert set(re.findall(r'(?:src|href)="([^"]+)"', text)) == {
        "./",
        "openapi.json",
        "icon.svg",
        "style.css",
        "api.css",
    }


def test_a_good_image_is_shown_by_its_name(site, inspector):
    status, headers, found = site.ask("GET", "/api/good?name=good%203.png")
    assert (status, headers["content-type"]) == (200, "image/png")
    shown = np.asarray(Image.open(io.BytesIO(found)))
    np.testing.assert_array_equal(shown, inspector.thumbnail("good 3.png"))
    for name in ("good%2099.png", "..%2f..%2fetc%2fpasswd", ""):
        assert site.ask("GET", f"/api/good?name={name}")[0] == 404
    assert site.ask("GET", "/api/good")[0] == 422


def test_files_that_browsers_cannot_show_become_png(site):
    deep = np.linspace(0, 65_535, SIDE * SIDE).reshape(SIDE, SIDE).astype(np.uint16)
    status, found = site.send("/api/picture", file_of(deep, "TIFF"), "deep.tif")
    assert status == 200
    shown = np.asarray(Image.open(io.BytesIO(found)))
    np.testing.assert_allclose(shown, deep / 257, atol=0.51)
    assert max(Image.open(io.BytesIO(small_png(np.zeros((3_000, 5_000), np.float32)))).size) <= 2_048
    status, found = site.send("/api/picture", file_of(np.zeros((300, 500), np.uint8)), "other.png")
    assert (status, "must have 128 × 128" in found["detail"]) == (422, True)


def test_the_table_is_that_of_a_run(site):
    rows = [
        {"image": "sub/bad.png", "verdict": "NG", "score": 3.14159265, "p_value": 0.08, "threshold": 2.5,
         "nearest_good": "7.png", "boxes": [[1, 2, 3, 4], [5, 6, 7, 8]], "milliseconds": 12.345},
        {"image": "a\nb.png", "verdict": "OK", "score": -1, "p_value": 1, "threshold": None, "nearest_good": "8.png",
         "milliseconds": 1},
        {"image": "x.png", "verdict": "ERROR", "error": "x.png: empty, or so"},
    ]  # fmt: skip

    def ask(rows):
        return site.ask("POST", "/api/scores.csv", json.dumps(rows), {"Content-Type": "application/json"})

    status, headers, found = ask(rows)
    assert status == 200
    assert headers["content-type"].startswith("text/csv")
    assert found.decode().splitlines() == [
        "image,verdict,score,p_value,threshold,nearest_good,boxes,milliseconds,error",
        "sub/bad.png,NG,3.141593,0.08,2.5,7.png,1:2:3:4 5:6:7:8,12.3,",
        "a\\nb.png,OK,-1.0,1.0,inf,8.png,,1.0,",
        'x.png,ERROR,,,,,,,"x.png: empty, or so"',
    ]
    assert len(list(csv.DictReader(io.StringIO(found.decode())))) == 3
    assert ask([{"image": "a", "verdict": "MAYBE"}])[0] == 422
    assert ask([{"image": "a" * 2_000, "verdict": "OK"}])[0] == 422
    assert ask({})[0] == 422


def test_too_few_good_images_reject_nothing():
    with without_warnings():
        few = fit_surfaces(5)
    with served(few) as site:
        assert site.model()["threshold"] is None
        status, found = site.send("/api/check", file_of(BAD))
    assert (status, found["threshold"], found["verdict"]) == (200, None, "OK")
    assert found["boxes"] == []
    assert found["boxes_if_rejected"]


def test_the_command_serves_until_it_is_interrupted(model_file):
    command = [sys.executable, "-m", "vwkde.cli", "inspect", "serve", "-m", model_file, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        line = process.stdout.readline()
        found = re.fullmatch(r"part\.vwkde, 22 good images: http://127\.0\.0\.1:(\d+)/ \(stop with Ctrl-C\)\n", line)
        assert found, line + process.stderr.read()
        site = Address("127.0.0.1", int(found[1]))
        assert site.send("/api/check", file_of(BAD))[1]["verdict"] == "NG"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (0, "", "")


def test_a_port_that_is_taken_is_told():
    with listening.listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ValueError, match=rf"cannot listen on 127\.0\.0\.1:{port} .* Choose another port"):
            listening.listen("127.0.0.1", port)


@pytest.mark.parametrize(
    ("host", "name", "is_open"),
    [
        ("127.0.0.1", [], False),
        ("127.0.0.1", ["localhost", "127.0.0.2"], False),
        ("127.0.0.1", ["localhost", "inspection.example"], True),  # a proxy lets others in
        ("0.0.0.0", [], True),
    ],
)
def test_a_server_that_others_can_reach_says_so_and_needs_a_token(model_file, monkeypatch, capsys, host, name, is_open):
    served = []
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(listening, "make_server", lambda _: Mock(run=lambda sockets: served.extend(sockets)))
    serve(model_file, host=host, port=0, read_only=True, name=name)
    served[0].close()
    out, err = capsys.readouterr()
    assert bool(re.search(r"http://[\w.]+:\d+/\?token=[\w-]{32} ", out)) == is_open
    assert bool(re.search(r"http://127\.0\.0\.1:\d+/ ", out)) != is_open
    assert ("everyone who has the link can check images;" in err) == is_open
