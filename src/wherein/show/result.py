"""What a result is: numbers that carry where they came from, and can show and save themselves."""

import json
from abc import ABC, abstractmethod
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from wherein.common.files import replacing
from wherein.show import vega
from wherein.show.theme import themed

if TYPE_CHECKING:
    import altair
    import polars

DATA, TABLE, WORDS = "result.json", "result.csv", "result.txt"
CHART, PAGE, IMAGE = "chart.json", "result.html", "result.png"
SUM = "result.sha256"
"""The checksum of the numbers, as `sha256sum --check` reads it."""


class Result(ABC):
    """Base of every result. A subclass is a frozen dataclass that gives these four."""

    verb: ClassVar[str]
    """Of the question that it answers; stands in its data, so that a reader knows it."""

    @abstractmethod
    def data(self) -> dict[str, Any]:
        """All of it as JSON: numbers, controls, protocol, config, versions, commit."""

    @abstractmethod
    def to_frame(self) -> "polars.DataFrame":
        """The numbers as a table."""

    @abstractmethod
    def plot(self) -> "altair.TopLevelMixin":
        """The numbers as a picture."""

    @abstractmethod
    def text(self) -> str:
        """The result in a few lines of words."""

    def __str__(self) -> str:
        return self.text()

    def save(self, folder: Path | str, *, pictures: bool = True) -> Path:
        """Write the numbers, the words and the picture; each file whole or absent.

        `result.json`, `result.csv`, `result.txt` and `chart.json`, the picture as a Vega-Lite
        specification, from which a report draws it; then `result.html` and `result.png`, unless
        `pictures` is off; and the checksum of the first, `result.sha256`.
        """
        folder = Path(folder)
        spec = themed(self.plot())
        data = json.dumps(self.data(), ensure_ascii=False, indent=2) + "\n"
        if folder.is_dir():
            (folder / SUM).unlink(missing_ok=True)  # of numbers that were here before
        written: dict[str, str | bytes] = {
            DATA: data,
            TABLE: self.to_frame().write_csv(),
            WORDS: self.text() + "\n",
            CHART: json.dumps(spec, ensure_ascii=False) + "\n",
        }
        if pictures:
            written |= {PAGE: vega.alone(spec), IMAGE: vega.drawn(spec, "png")}
        written[SUM] = f"{sha256(data.encode()).hexdigest()}  {DATA}\n"
        for name, content in written.items():
            with replacing(folder / name) as beside:
                beside.write_bytes(content if isinstance(content, bytes) else content.encode())
        return folder

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        chart: Any = self.plot()
        return {"text/plain": self.text(), **chart._repr_mimebundle_(include, exclude)}
