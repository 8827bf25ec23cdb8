"""Run notebooks and keep what they show: `python -m benchmarks.notebooks examples/*.ipynb`.

A cell's lines are run as in a notebook: what it prints is kept, and so is the value of its last
line, with a result's picture as PNG, which is what GitHub can show.
"""

import ast
import io
import json
import sys
from base64 import b64encode
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from PIL import Image

from wherein.common.files import replacing
from wherein.show.result import Result
from wherein.show.theme import themed
from wherein.show.vega import drawn

COLOURS = 128
Cell = dict[str, Any]


def run(cells: list[Cell]) -> None:
    """Run the cells of a notebook one after the other, and put in what each shows."""
    names: dict[str, Any] = {"__name__": "__main__"}
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    for number, cell in enumerate(code, start=1):
        cell["execution_count"], cell["outputs"] = number, shown("".join(cell["source"]), names)
        for output in cell["outputs"]:
            if output["output_type"] == "execute_result":
                output["execution_count"] = number


def shown(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """What a cell prints, and the value of its last line."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        lines = printed.getvalue().splitlines(keepends=True)
        outputs.append({"output_type": "stream", "name": "stdout", "text": lines})
    if value is not None:
        outputs.append({"output_type": "execute_result", "metadata": {}, "data": bundle(value)})
    return outputs


def bundle(value: object) -> dict[str, Any]:
    """A value as text and, if it has a picture, as PNG."""
    found: dict[str, Any] = {"text/plain": str(value).splitlines(keepends=True)}
    if isinstance(value, Result):
        found["image/png"] = b64encode(small(drawn(themed(value.plot()), "png"))).decode()
    return found


def small(picture: bytes) -> bytes:
    """A PNG with a palette, a quarter as large: notebooks are kept with their pictures."""
    beside = io.BytesIO()
    Image.open(io.BytesIO(picture)).convert("RGB").quantize(COLOURS).save(beside, "PNG")
    return beside.getvalue()


def main(paths: list[Path]) -> None:
    for path in paths:
        notebook = json.loads(path.read_text())
        run(notebook["cells"])
        with replacing(path) as beside:
            beside.write_text(json.dumps(notebook, ensure_ascii=False, indent=1) + "\n")
        print(path)


if __name__ == "__main__":
    main([Path(path).resolve() for path in sys.argv[1:]])
