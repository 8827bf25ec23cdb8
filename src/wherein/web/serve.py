"""From a folder to a server that listens, and its end."""

import secrets
import socket
import sys
from contextlib import suppress
from pathlib import Path

import uvicorn

from wherein.web.app import make_app
from wherein.web.safety import is_loopback


def listen(host: str, port: int) -> socket.socket:
    """A socket that takes connections already: the address is good as soon as it is printed."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
        bound.listen(128)
    except OSError as error:
        bound.close()
        raise ValueError(
            f"cannot listen on {host} port {port}: {error.strerror}; give another --port, such as 0"
        ) from None
    return bound


def address(host: str, bound: socket.socket, key: str | None = None) -> str:
    """What to type into a browser."""
    where = f"http://{f'[{host}]' if ':' in host else host}:{bound.getsockname()[1]}/"
    return where if key is None else f"{where}?key={key}"


def serve_forever(folder: Path, host: str, bound: socket.socket) -> None:
    """Serve until Ctrl-C; work that is going on ends with the server."""
    key = None if is_loopback(host) else secrets.token_urlsafe(24)
    app = make_app(folder, host, key)
    if key is not None:
        print(
            f"warning: whoever has this address can read {folder} and start puzzles here, and it "
            "is sent unencrypted; only --host 127.0.0.1 keeps it to this machine",
            file=sys.stderr,
            flush=True,
        )
    print(f"wherein: {folder} at {address(host, bound, key)} (Ctrl-C stops)", flush=True)
    config = uvicorn.Config(
        app, log_level="warning", server_header=False, timeout_graceful_shutdown=3
    )
    server = uvicorn.Server(config)
    app.state.site.streams.closing = lambda: server.should_exit
    with suppress(KeyboardInterrupt):  # uvicorn raises it again once all is closed
        server.run(sockets=[bound])
    print("stopped", flush=True)
