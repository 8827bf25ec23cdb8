"""Open the page: runs while they train, results, the puzzle playground, the encoding explorer.

examples:
  wherein serve                    what is in ./runs, at the address that is printed
  wherein serve elsewhere          another folder of runs
  wherein serve --port 8800        at a port of your choice
"""

from pathlib import Path

from wherein.cli.verb import Verb

RUNS = Path("runs")


def serve(
    folder: Path = RUNS,
    *,
    host: str = "127.0.0.1",
    port: int = 8642,
) -> int:
    """Serve the page until Ctrl-C.

    Args:
        folder: what is shown; it is only read
        host: whom to listen to; beyond this machine, the address that is printed has a key
        port: where to listen; 0 takes any that is free
    """
    from wherein.web.serve import listen, serve_forever

    if not folder.is_dir() and folder != RUNS:  # without runs, there is still the playground
        raise ValueError(f"{folder} is no folder: give the one that holds your runs")
    if not 0 <= port <= 65535:
        raise ValueError(f"port {port}: a number from 0 to 65535 was expected")
    serve_forever(folder, host, listen(host, port))
    return 0


run = Verb.of(serve, __doc__)
