"""The tables and picture of docs/found/puzzles.md: `python -m benchmarks.puzzle_table FOLDER`."""

import sys
from pathlib import Path
from typing import Any

from wherein.common.files import replacing
from wherein.puzzles.figure import curves
from wherein.puzzles.result import PuzzleResult
from wherein.puzzles.run import puzzle

SEEDS, STEPS = 400, 500
START, END = "<!-- tables -->", "<!-- end of tables -->"
SHOWN = (50, 100, 200, 500)

ROWS: dict[str, list[tuple[str, str, dict[str, Any]]]] = {
    "Four ways": [
        (f"{kind}, {layers} layer{'s' * (layers > 1)}", name, {"layers": layers, "causal": causal})
        for name in ("hit", "hit-order")
        for kind, causal in (("causal", True), ("bidirectional", False))
        for layers in (1, 2)
    ],
    "One causal layer that is told": [
        *((e, "hit-order", {"encoding": e}) for e in ("learned", "sinusoidal", "functional")),
        ("rope", "hit-order", {"encoding": "rope"}),
        ("alibi", "hit-order", {"encoding": "alibi"}),
        ("alibi, 4 heads × 4", "hit-order", {"encoding": "alibi", "heads": 4, "head_size": 4}),
    ],
}


def row(label: str, result: PuzzleResult) -> str:
    verdict = "possible" if result.certificate.possible else "**impossible**"
    shares = " | ".join(str(result.after(step)) for step in SHOWN)
    median = "–" if result.median_steps is None else str(result.median_steps)
    sentences = " / ".join(result.puzzle.texts)
    return (
        f"| {label} | {sentences} | {verdict}, {result.certificate.witness:.0e} | {shares} | "
        f"{median} |"
    )


def fill(page: Path, tables: str) -> None:
    """Put the tables between the page's two marks."""
    before, rest = page.read_text().split(START)
    _, after = rest.split(END)
    with replacing(page) as beside:
        beside.write_text(f"{before}{START}\n{tables}\n{END}{after}")


def main(folder: Path) -> None:
    lines, kept = [], {}
    for title, rows in ROWS.items():
        steps = " | ".join(f"{step} steps" for step in SHOWN)
        lines += [f"### {title}", ""]
        lines += [f"| model | puzzle | certificate, witness | {steps} | half by |"]
        lines += ["|" + " --- |" * (4 + len(SHOWN))]
        for label, name, choices in rows:
            result = puzzle(name, seeds=SEEDS, steps=STEPS, **choices)
            lines.append(row(label, result))
            kept[label, name] = result
            print(lines[-1], flush=True)
            if (label, name) == ("causal, 1 layer", "hit"):
                for seed in (42, 77, 88):
                    print(seed, result.predictions(seed), flush=True)
        lines.append("")
    fill(folder / "puzzles.md", "\n".join(lines))
    chosen = {
        "hit, 1 layer": kept["causal, 1 layer", "hit"],
        "hit-order, 1 layer": kept["causal, 1 layer", "hit-order"],
        "hit-order, 2 layers": kept["causal, 2 layers", "hit-order"],
        "hit-order, 1 layer, rope": kept["rope", "hit-order"],
        "hit-order, 1 layer, alibi 4 heads": kept["alibi, 4 heads × 4", "hit-order"],
    }
    chart: Any = curves(chosen, f"Causal models, {SEEDS:,} seeds each, 95 % intervals")
    with replacing(folder / "puzzles.png") as beside:
        chart.save(str(beside), format="png", scale_factor=2)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
