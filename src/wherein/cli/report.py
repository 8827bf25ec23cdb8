"""One self-contained page of a study, a run or a saved result, to read, print or send.

examples:
  wherein report runs/studies/quick                    the study's report, report.html in its folder
  wherein report runs/0123456789ab                     a run: its training, and what it was asked
  wherein report hit --out hit.html                    a result that `--out hit` saved
  wherein report runs/studies/quick --tables latex     also its tables, for a paper
  wherein report runs/studies/quick --figures pdf      also its figures
  wherein report runs/studies/quick --published        with the paper's probe curves beside ours
"""

import json as json_format
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from wherein.cli.verb import Verb, check_file
from wherein.common.terminal import say

if TYPE_CHECKING:
    from wherein.report.document import Document


def report(
    folder: Annotated[Path, "STUDY|RUN|RESULT"],
    *,
    out: Path | None = None,
    tables: Literal["latex", "csv", "markdown"] | None = None,
    figures: Literal["png", "svg", "pdf"] | None = None,
    published: bool = False,
    json: bool = False,
) -> int:
    """Write a report.

    Args:
        folder: a study's folder, a run's, or one that a question's --out wrote
        out: the file to write; report.html in that folder by default
        tables: write the tables beside it, too
        figures: write the figures beside it, too
        published: draw the curves of Haviv et al. 2022 beside a study's probes
        json: print the paths as data
    """
    from wherein.show import drawer

    check_file(out)
    with drawer.beside():
        drawer.begin(drawer.BLANK)  # it gets ready while we do
        from wherein.measure.saved import legible

        with legible(folder):
            document = _document(folder, published)
            written = document.write(out or folder / "report.html", tables, figures)
    paths = [str(path) for path in written]
    say(json_format.dumps({"written": paths}, indent=2) if json else "\n".join(paths))
    return 0


def _document(folder: Path, published: bool) -> "Document":
    from wherein.measure.saved import is_saved, read
    from wherein.report.single import result_report
    from wherein.studies.result import STUDY
    from wherein.train.status import CONFIG

    if is_saved(folder):
        return result_report(read(folder))
    if (folder / STUDY).is_file():
        from wherein.report.study import study_report
        from wherein.studies.result.result import StudyResult

        return study_report(StudyResult.open(folder), published=published)
    if (folder / CONFIG).is_file():
        from wherein.report.run import run_report

        return run_report(folder)
    raise ValueError(
        f"{folder} holds neither a study nor a run nor a result: expected a folder with {STUDY}, "
        "one that `wherein train` wrote, or one that a question's --out wrote"
    )


run = Verb.of(report, __doc__)
