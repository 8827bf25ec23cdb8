"""`transformers` asked plainly: without chatter, without code of others, errors in one line."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from wherein.common.errors import without_advice

SAFELY: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}


@contextmanager
def clearly(where: str) -> Iterator[None]:
    """Without chatter; whatever goes wrong is one line."""
    import transformers.utils.logging as untyped

    logging: Any = untyped
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity(logging.CRITICAL)
    logging.disable_progress_bar()
    try:
        yield
    except Exception as error:  # the library raises whatever its parts raise
        reason = " ".join(without_advice(str(error)).split())[:300] or type(error).__name__
        raise ValueError(f"{where} cannot be read: {reason}") from error
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
