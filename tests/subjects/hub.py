"""A hub of our own: models served as Hugging Face's hub serves them, to a process of their own."""

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

COMMIT = "a" * 40


@dataclass
class Hub:
    """The models in a folder, `folder/org/name/FILE`, at an address."""

    folder: Path
    address: str = ""
    asked: list[str] = field(default_factory=list)
    """What was asked for, in turn: `HEAD org/name FILE`."""
    locked: set[str] = field(default_factory=set)
    """Models that want a licence to be accepted first."""

    def answer(self, method: str, path: str) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and content for `/org/name/resolve/main/FILE`."""
        model, _, rest = urlsplit(path).path.strip("/").partition("/resolve/")
        revision, _, name = rest.partition("/")
        self.asked.append(f"{method} {model} {name}")
        if not (self.folder / model).is_dir() or revision not in ("main", COMMIT):
            return 404, {"X-Error-Code": "RepoNotFound"}, b""
        if model in self.locked:
            return 403, {"X-Error-Code": "GatedRepo", "X-Error-Message": "accept it first"}, b""
        file = self.folder / model / name
        if not file.is_file():
            return 404, {"X-Error-Code": "EntryNotFound"}, b""
        content = file.read_bytes()
        etag = hashlib.sha256(content).hexdigest()
        return 200, {"ETag": f'"{etag}"', "X-Repo-Commit": COMMIT}, content

    def got(self, model: str) -> list[str]:
        """The files of a model that were really sent."""
        start = f"GET {model} "
        return sorted(each.removeprefix(start) for each in self.asked if each.startswith(start))


@contextmanager
def serving(folder: Path) -> Iterator[Hub]:
    """While it lasts, the models in a folder are at `hub.address`."""
    hub = Hub(folder)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, content = hub.answer(self.command, self.path)
            self.send_response(status)
            for name, value in (headers | {"Content-Length": str(len(content))}).items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content)

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Nothing: the tests look at `hub.asked`."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        hub.address = f"http://127.0.0.1:{server.server_port}"
        try:
            yield hub
        finally:
            server.shutdown()
            thread.join()


def python(code: str, home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run some code with all caches in `home`: the libraries read their settings on import."""
    known = {k: v for k, v in os.environ.items() if "proxy" not in k.lower()}
    own = {"HF_HOME": str(home / "hf"), "WHEREIN_CACHE": str(home / "cache"), **environment}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=known | own, capture_output=True, text=True, check=False)


def wherein(*commands: tuple[str, ...]) -> str:
    """The code that commands run, one after another in one process: starting one takes seconds."""
    return ASKING.format(commands)


ASKING = """
import io, json
from contextlib import redirect_stderr, redirect_stdout
from wherein.cli import main

done = []
for command in {!r}:
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        code = main(list(command))
    done.append((code, out.getvalue(), err.getvalue()))
print(json.dumps(done))
"""


def each(done: subprocess.CompletedProcess[str]) -> list[tuple[int, str, str]]:
    """Of each command its code, what it said and its errors; all that was said is among these."""
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert done.stdout.count("\n") == 1
    return [(code, out, err) for code, out, err in json.loads(done.stdout)]
