"""A headless Chromium, driven by its own DevTools protocol over a pipe: no driver, no port, no other package."""

import base64
import json
import os
import queue
import shutil
import subprocess
import sys
import threading
import time

FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--disable-extensions",
    "--no-first-run",
    "--no-default-browser-check",
    "--remote-debugging-pipe",
]
LAUNCH = """
import fcntl, os, sys
pipes = [fcntl.fcntl(int(text), fcntl.F_DUPFD, 10) for text in sys.argv[1:3]]
for number, pipe in enumerate(pipes, start=3):
    os.dup2(pipe, number)
    os.close(pipe)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""Gives the protocol's pipes the numbers 3 and 4, which Popen cannot do by itself, and becomes the browser."""
PATIENCE = 30.0
"""Seconds after which waiting is a failure."""


def find_chromium():
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next(filter(None, map(shutil.which, names)), None)


class Browser:
    """One page of a browser of its own, which keeps what it writes in `folder`."""

    def __init__(self, program, folder):
        commands, self._commands = os.pipe()
        self._replies, replies = os.pipe()
        profile = [f"--user-data-dir={folder / 'profile'}", f"--crash-dumps-dir={folder / 'crashes'}"]
        with (folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-c", LAUNCH, str(commands), str(replies), program, *FLAGS, *profile, "about:blank"],
                pass_fds=(commands, replies),
                stdout=log,
                stderr=log,
                env=os.environ | {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "XDG_CACHE_HOME": str(folder)},
            )
        os.close(commands)
        os.close(replies)
        self._number = 0
        self._messages = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.complaints = []
        """What the page wrote to its console as warnings and errors, and what it threw."""
        self._session = None
        try:
            self._attach(folder)
        except BaseException:
            self.close()
            raise

    def _attach(self, folder):
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "DOM", "Network"):
            self.send(f"{domain}.enable")
        self.send("Page.setDownloadBehavior", behavior="allow", downloadPath=str(folder))

    def close(self):
        os.close(self._commands)
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join()
        os.close(self._replies)

    def send(self, method, **parameters):
        """Send a command and return its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._commands, data) :]
        while True:
            reply = self._messages.get(timeout=PATIENCE)
            if reply.get("id") == self._number:
                assert "error" not in reply, f"{method}: {reply['error']}"
                return reply["result"]
            self._hear(reply)

    def open(self, url):
        self.send("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def evaluate(self, expression):
        """Return the value of an expression in the page."""
        reply = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in reply, f"{expression}: {reply['exceptionDetails']}"
        return reply["result"].get("value")

    def wait(self, expression):
        """Wait until an expression holds, and return its value."""
        end = time.monotonic() + PATIENCE
        while not (value := self.evaluate(expression)):
            assert time.monotonic() < end, f"never came true: {expression}"
            time.sleep(0.03)
        return value

    def text(self, selector):
        return self.evaluate(f"document.querySelector({selector!r}).innerText")

    def click(self, selector):
        """Press the mouse in the middle of an element, as a person would."""
        place = self.evaluate(
            f"(() => {{ const e = document.querySelector({selector!r}); e.scrollIntoView({{block: 'nearest'}}); "
            "const r = e.getBoundingClientRect(); return {x: r.x + r.width / 2, y: r.y + r.height / 2}; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)

    def press(self, key, code=None):
        """Press a key: a character, or a name such as ArrowDown."""
        codes = {"ArrowDown": 40, "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39, "Enter": 13, "Home": 36, "End": 35}
        about = {"key": key, "code": key, "windowsVirtualKeyCode": code or codes.get(key, 0)}
        typed = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", **about, **typed)
        self.send("Input.dispatchKeyEvent", type="keyUp", **about)

    def give_files(self, selector, *paths):
        """Choose files in a file input."""
        root = self.send("DOM.getDocument")["root"]["nodeId"]
        node = self.send("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.send("DOM.setFileInputFiles", nodeId=node, files=[str(path) for path in paths])

    def drop(self, *paths):
        """Drag files from outside over the middle of the page, and drop them."""
        data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.send("Input.dispatchDragEvent", type=kind, x=400, y=300, data=data)

    def resize(self, width, height):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def prefer(self, scheme):
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path, **options):
        path.write_bytes(base64.b64decode(self.send("Page.captureScreenshot", format="png", **options)["data"]))

    def _read(self):
        rest = b""
        while data := os.read(self._replies, 2**16):
            *messages, rest = (rest + data).split(b"\0")
            for message in messages:
                self._messages.put(json.loads(message))

    def _hear(self, event):
        about = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(str(about["exceptionDetails"]))
        if event.get("method") == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning", "assert"):
            self.complaints.append(str(about["args"]))
        if event.get("method") == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
            self.complaints.append(str(about["entry"]))
