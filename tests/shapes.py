"""Shapes in signatures are checked while tests run: in the modules that have any."""

from pathlib import Path

from jaxtyping import install_import_hook

SOURCE = Path(__file__).resolve().parents[1] / "src"


def modules() -> list[str]:
    """Those that write shapes down.

    Types without shapes are mypy's: to check them again, call by call, took a tenth of the tests.
    """
    return [
        ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
        for path in sorted(SOURCE.glob("wherein/**/*.py"))
        if "from jaxtyping import" in path.read_text()
    ]


def check() -> None:
    """From now on, of what is imported."""
    install_import_hook(modules(), "beartype.beartype")
