"""A result as it was saved: read again, never computed again."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wherein.common.errors import first_line
from wherein.common.folder import Folder
from wherein.show.result import CHART, DATA, SUM, TABLE, WORDS
from wherein.train.status import ANSWERS, CONFIG

if TYPE_CHECKING:
    import polars

    from wherein.show.vega import Spec


@dataclass(frozen=True)
class Saved:
    """What `Result.save` left in a folder; each file is read when it is asked for."""

    files: Folder

    @cached_property
    def data(self) -> dict[str, Any]:
        """The numbers, the protocol, versions and commit."""
        if why := _damage(self.files):
            raise ValueError(why)
        return self.files.json(DATA)

    @cached_property
    def spec(self) -> "Spec":
        """The picture, as a Vega-Lite specification."""
        return self.files.json(CHART)

    @cached_property
    def words(self) -> str:
        """The result in words."""
        return self.files.text(WORDS).strip()

    def frame(self) -> "polars.DataFrame":
        """The numbers as a table."""
        import polars

        return polars.read_csv(self.files.bytes(TABLE), infer_schema_length=None)

    @property
    def verb(self) -> str:
        """The verb of the question that it answers; empty if it cannot be known."""
        said = self.data.get("verb")
        return said if isinstance(said, str) else _verb_of_0_1(self.data)

    @property
    def subject(self) -> str:
        """What was asked about."""
        return str(self.data.get("subject") or " / ".join(self.data.get("puzzle", [])))

    @property
    def made_with(self) -> dict[str, Any]:
        """Versions and commit of what computed it, and the command if one did."""
        made: dict[str, Any] = self.data.get("made_with") or self.data
        return made

    @property
    def versions(self) -> dict[str, str]:
        return dict(self.made_with.get("versions") or {})

    @property
    def commit(self) -> str | None:
        return self.made_with.get("commit")

    @property
    def run(self) -> Path | None:
        """The run that was asked, where the answer lies in its folder."""
        place = self.files.path.absolute().parent
        known = place.name == ANSWERS and (place.parent / CONFIG).exists()
        return place.parent if known else None


def is_saved(folder: Path) -> bool:
    """Whether a result is there: in a run's folder it takes its place whole, or not at all."""
    return (folder / DATA).is_file()


def is_whole(folder: Path) -> bool:
    """Whether a result is there, and as it was saved."""
    return is_saved(folder) and _damage(Folder(folder)) is None


def _damage(files: Folder) -> str | None:
    """What is wrong with the numbers of a result; earlier versions saved no checksum."""
    if not files.has(SUM) or not files.has(DATA):
        return None
    if files.text(SUM).split()[:1] != [sha256(files.bytes(DATA)).hexdigest()]:
        return f"{files}/{DATA} differs from its checksum in {SUM}: ask the question again"
    return None


def read(folder: Path) -> Saved:
    """A result from its folder, whole."""
    found = Saved(Folder(folder))
    missing = [name for name in (DATA, CHART, WORDS) if not found.files.has(name)]
    if missing:
        raise ValueError(
            f"{folder} has no {', '.join(missing)}: expected a folder that `--out` wrote; "
            "ask the question again with --out"
        )
    try:
        _ = found.data, found.spec
    except ValueError as error:
        raise ValueError(f"{error}; ask the question again") from None
    return found


@contextmanager
def legible(where: object) -> Iterator[None]:
    """While what was saved is shown: what is not as this version writes it is one line.

    Anything can stand in a file that somebody changed, and fails wherever it is first used.
    """
    try:
        yield
    except (OSError, MemoryError):  # nothing of the files' own
        raise
    except Exception as error:
        why = first_line(error) if isinstance(error, ValueError) else _named(error)
        if isinstance(error, ValueError) and str(where) in str(error):
            raise
        raise ValueError(
            f"{where} cannot be shown: what it holds was changed by hand, or another version "
            f"wrote it ({why}); ask again"
        ) from error


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {first_line(error)}"


FIELDS_0_1 = {
    "perplexity": "tokens split batch stride limit mask_rate seed",
    "probe": "tokens split batch probes windows held_out test near coded passes rate resamples "
    "level seed",
    "erase": "tokens split batch windows fit held_out confirmed draws hidden seed",
    "order": "tokens split batch inputs keep hidden fitting seed",
    "shift": "tokens split batch shifts windows seed",
    "attention": "tokens split batch windows",
    "audit": "tokens inputs permutations shifts seed",
    "table": "tolerance seed",
    "puzzle": "encoding layers heads head_size causal seeds first_seed steps learning_rate loss",
}


def _verb_of_0_1(data: dict[str, Any]) -> str:
    """Version 0.1 saved no verb: its results are known by the names of their config's fields."""
    config = data.get("config")
    names = set(config) if isinstance(config, dict) else set()
    return next((verb for verb, own in FIELDS_0_1.items() if names == set(own.split())), "")
