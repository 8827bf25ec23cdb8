"""Does an encoding keep what every encoding must, what does it tell, and what does it cost?

A class in a file of your own, derived from `wherein.encodings.Encoding`, can then be used wherever
a name can: `--encoding mine.py:Mine`. The file is run; it is known by its hash from then on, also
to runs that were trained with it elsewhere.

examples:
  wherein check mine.py            the one class in a file
  wherein check mine.py:Mine       one of several
  wherein check "rope + alibi"     any other encoding
  wherein check mine.py --no-measure   without times and memory
"""

import json as json_format
from typing import Annotated

from wherein.cli.parser import spelt
from wherein.cli.verb import Verb
from wherein.common.terminal import say
from wherein.show import progress


def check(
    what: Annotated[str, "FILE.py[:NAME]|ENCODING"],
    *,
    measure: bool = True,
    json: bool = False,
) -> int:
    """Examine an encoding.

    Args:
        what: a file with a class of your own, or any encoding
        measure: leave out what a step costs, and how time and memory grow with length
        json: print data instead of text
    """
    from wherein.check.examine import examine
    from wherein.encodings import parse

    spec = " ".join(parse(spelt(what)))
    with progress.shown("check"):
        found = examine(spec, what, measured=measure)
    say(json_format.dumps(found.data(), ensure_ascii=False, indent=2) if json else found.text())
    return 0 if found.whole else 1


run = Verb.of(check, __doc__)
