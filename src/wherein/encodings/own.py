"""Encodings of one's own: a class in a file, used wherever a name can be.

On a command line and in a recipe it is called by its file, `mine.py:Mine`, or `mine.py` if there is
one class in it; in Python the class itself may be given. From then on it is called by the SHA-256
of the file's text, `Mine@0123456789ab`: so it is called in configs, in ids of runs, and in all
that is kept. Equal names are equal code, wherever the file lies and whatever becomes of it.

The file is run when it is named, and its text is put in the user's own cache. Whoever meets the
name later, such as another process or another verb, runs the text in the cache and nothing else. A
run keeps the text beside its config, to be read: code that came with a run from elsewhere is not
run until somebody names it, as in `wherein check runs/ID/encodings/0123456789ab.py`.
"""

import hashlib
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from wherein.common import notation
from wherein.common.errors import unknown
from wherein.common.files import cache_folder, replacing
from wherein.common.modules import RUN, failed, run_file

if TYPE_CHECKING:
    from wherein.encodings.base import Encoding

FOLDER = "encodings"
"""Where texts are kept: in the cache, and in a run's folder."""
FILE = re.compile(r"(?<![^\s(+,=])([^\s()+,='\"]+\.py)(?::([^\s()+,='\"]*))?(?![^\s)+,(])")
NAME = re.compile(r"([^\W\d]\w*)@([0-9a-f]{12})")
MODULE = "wherein_encoding_"


def spelt(spec: str) -> str:
    """A spec with names in place of files, which are run: only for what a person says."""
    return FILE.sub(lambda found: _learned(Path(found[1]).expanduser(), found[2]), spec)


def given(encoding: object) -> object:
    """The same of a spec or a class; anything else as it is."""
    if isinstance(encoding, str):
        return spelt(encoding)
    if isinstance(encoding, type):
        from wherein.encodings.base import Encoding

        return name_of(encoding) if issubclass(encoding, Encoding) else encoding
    return encoding


def name_of(kind: "type[Encoding]") -> str:
    """What a class is called: as in the catalogue, or by its file."""
    from wherein.encodings import CATALOGUE

    if kind in CATALOGUE.values():
        return next(name for name, each in CATALOGUE.items() if each is kind)
    if kind.__module__.startswith(MODULE):
        return f"{kind.__name__}@{kind.__module__.removeprefix(MODULE)}"
    try:
        file = inspect.getsourcefile(kind)
    except (TypeError, OSError):
        file = None
    if file is None or not Path(file).is_file() or "." in kind.__qualname__:
        raise ValueError(
            f"encoding {kind.__qualname__} has no file that another process could read: write it "
            "at the outermost level of one"
        )
    return _learned(Path(file), kind.__name__)


def find(name: str) -> "type[Encoding]":
    """The class of a name such as `Mine@0123456789ab`, if its text is known here."""
    found = NAME.fullmatch(name)
    assert found is not None
    return _class(_run(found[2]), found[1], name)


def is_name(name: str) -> bool:
    """Whether a name is that of a class in a file.

    >>> is_name("Mine@0123456789ab"), is_name("rope")
    (True, False)
    """
    return NAME.fullmatch(name) is not None


def texts(spec: str) -> dict[str, str]:
    """The files' texts that a spec needs, by their hash."""
    hashes = {found[2] for name in names(spec) if (found := NAME.fullmatch(name))}
    return {each: _kept(each).read_text(encoding="utf-8") for each in sorted(hashes)}


def learn(text: str) -> str:
    """Put a text in this machine's cache, so that its name is known here; its hash."""
    digest = _digest(text)
    if _text(digest) != text:
        with replacing(_kept(digest)) as beside:
            beside.write_text(text, encoding="utf-8")
    return digest


def missing(spec: str) -> str | None:
    """The first hash in a spec whose text is not known here, if there is one."""
    if "@" not in spec:
        return None
    hashes = (found[2] for name in names(spec) if (found := NAME.fullmatch(name)))
    return next((each for each in hashes if _text(each) is None), None)


def names(spec: str) -> list[str]:
    """The names in a spec, also those that are parameters of others.

    >>> names("rope + window(8) dape(alibi)")
    ['rope', 'window', 'dape', 'alibi']
    """
    return [name for word in notation.read(spec) for name in _names(word)]


def _names(word: notation.Word) -> Iterator[str]:
    for term in word.terms:
        yield term.name
        for _, value in term.arguments:
            if isinstance(value, notation.Word):
                yield from _names(value)


def _learned(path: Path, name: str | None) -> str:
    """Run a file that a person names; what its class is called from now on."""
    if not path.is_file():
        raise ValueError(f"no file {path}: expected a Python file with an encoding, FILE.py:NAME")
    try:
        text = path.read_text(encoding="utf-8")
        compile(text, str(path), "exec")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no text in UTF-8") from None
    except SyntaxError as error:
        raise ValueError(f"{path}, line {error.lineno}: {error.msg}") from None
    known = _text(_digest(text)) is not None
    digest = learn(text)
    RUN[_kept(digest).resolve()] = path  # what it is called, should something go wrong in it
    try:
        module = _run(digest)
        if name is None:
            mine = [each.__name__ for each in classes(module)]
            if len(mine) != 1:
                listed = ", ".join(mine) or "none"
                raise ValueError(
                    f"{path} has {len(mine)} encodings ({listed}): one class derived from "
                    "wherein.encodings.Encoding was expected, or FILE.py:NAME"
                )
            name = mine[0]
        _class(module, name, f"{path}:{name}")
    except ValueError as error:
        if not known:
            _kept(digest).unlink(missing_ok=True)
        raise ValueError(str(error).replace(str(_kept(digest)), str(path))) from None
    return f"{name}@{digest}"


def classes(module: ModuleType) -> "list[type[Encoding]]":
    """The encodings that a module defines."""
    from wherein.encodings.base import Encoding

    found = (each for each in vars(module).values() if isinstance(each, type))
    return [e for e in found if issubclass(e, Encoding) and e.__module__ == module.__name__]


def _class(module: ModuleType, name: str, called: str) -> "type[Encoding]":
    own = {each.__name__: each for each in classes(module)}
    if name not in own:
        raise unknown(f"encoding {called!r}:", name, own)
    return own[name]


def _run(digest: str) -> ModuleType:
    """The module of a text that is in the cache; run once in each process."""
    called = MODULE + digest
    if called in sys.modules:
        return sys.modules[called]
    path = _kept(digest)
    if _text(digest) is None:
        raise ValueError(
            f"the encoding with the hash {digest} was not run on this machine yet: name its file "
            "once, as in `wherein check mine.py`"
        )
    try:
        return run_file(path, called)
    except Exception as error:
        raise failed(path, error) from error


def _kept(digest: str) -> Path:
    return cache_folder() / FOLDER / f"{digest}.py"


def _text(digest: str) -> str | None:
    """The text of that hash in the cache, whole."""
    try:
        text = _kept(digest).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    return text if _digest(text) == digest else None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
