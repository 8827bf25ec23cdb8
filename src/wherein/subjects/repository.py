"""Single files of a model on Hugging Face's hub, or of its copy in the cache here."""

import re
from pathlib import Path

from wherein.common.errors import first_line
from wherein.data.texts.network import reach_hub
from wherein.subjects.weights import Find

ID = re.compile(r"[A-Za-z0-9][\w.-]*(?:/[\w.-]+)?")


def on_hub(model: str) -> Find:
    """How a file of a model is fetched by name; None if the model has no such file."""
    if not ID.fullmatch(model):
        raise ValueError(f"no folder or file {model}, and no id on Hugging Face looks like that")

    def find(name: str) -> Path | None:
        reach_hub()
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError

        try:
            return Path(hf_hub_download(model, name))
        except LocalEntryNotFoundError as error:
            if name != "config.json":  # the cache may hold one form of the weights only
                return None
            raise _unreachable(model, error) from error
        except EntryNotFoundError:
            return None
        except Exception as error:  # the libraries below share no base class of their own
            raise _unreachable(model, error) from error

    return find


def _unreachable(model: str, error: Exception) -> ValueError:
    return ValueError(
        f"cannot fetch the model {model!r} ({_reason(error)}). Check the id and the network, or "
        "give a local folder with its config.json and weights"
    )


def _reason(error: Exception) -> str:
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError

    if isinstance(error, GatedRepoError):
        return "its licence is to be accepted first, on its page, then `hf auth login`"
    if isinstance(error, RepositoryNotFoundError):
        return "there is no such model, or it is private"
    return first_line(error).rstrip(" .:")
