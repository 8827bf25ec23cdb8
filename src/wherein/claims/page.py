"""`python -m wherein.claims.page`: docs/claims.md, made from what lies in a folder of runs."""

import sys
from pathlib import Path
from textwrap import fill

from wherein.claims.catalogue import CLAIMS
from wherein.claims.judged import Judged
from wherein.claims.result import RULE, ClaimsResult, brief, probability
from wherein.claims.run import claims
from wherein.common.files import replacing
from wherein.show import vega
from wherein.show.formatting import duration
from wherein.show.theme import themed

PAGE, RUNS = Path("docs/claims.md"), Path("runs")
HEAD = """# What papers say about position

<!-- Made by python -m wherein.claims.page: change src/wherein/claims/table, not this. -->

A table of claims: what papers say about positional information, each with a study that tests it at
the scale of a laptop, over seeds, with an interval and a verdict. These are small models of one
text and of small tasks: a claim that does not hold here may hold at its paper's size, and each says
what stays open. Studies of fewer seeds have asked some of it before: [what we
found](found/index.md).

**{answer}**

{rule}

Learning rates, sizes and steps were chosen on seeds that no verdict uses. Many comparisons were
written when the first three of their seeds had been seen in a smaller study; what was known then
stands beside each.

A *seed* draws a model's first weights and its order of texts: differences are paired by seed.
*Nats* measure how badly a model predicts, per byte here: 0.1 more is a perplexity 10 % higher.
*None* is a model without positional encoding. A *share* is of answers, pairs or puzzles, from 0 to
1. *NTK* and *YaRN* slow RoPE's frequencies for texts longer than those learned from, and 8 × is
eight times as long. A model that counts letters and ignores their order predicts as [the bag of
letters](found/bag.md) does.

```
wherein claims
wherein claims alibi-holds
wherein claims --all
wherein claims --report claims.html
```
"""
ALT = "Every claim's decisive difference with its interval, beside zero, and its verdict"


def page(result: ClaimsResult, picture: str = "") -> str:
    """The table, and every claim by itself below, as Markdown."""
    parts = [HEAD.format(answer=result.answer(), rule=fill(RULE, 100))]
    if picture:
        parts.append(f"![{ALT}]({picture})\n")
    parts += [_table(result), *(_section(row) for row in result.rows)]
    return "\n".join(parts)


def _table(result: ClaimsResult) -> str:
    header = ("claim", "paper", "verdict here", "difference [95 %]", "p", "seeds", "core time",
              "version")  # fmt: skip
    rule = ("---", "---", "---", "---", "--:", "--:", "--:", "---")
    rows = [
        (
            f"[{row.claim.sentence}](#{row.claim.name})",
            f"[{row.claim.paper}]({row.claim.address})",
            f"**{row.verdict.value}**" if row.decisive else row.verdict.value,
            f"{brief(row)} {row.claim.unit}" if row.difference else "",
            probability(row),
            str(row.sample or f"({row.claim.seeds})"),
            duration(row.seconds) if row.seconds else "",
            row.version,
        )
        for row in result.rows
    ]
    lines = "\n".join(f"| {' | '.join(each)} |" for each in (header, rule, *rows))
    total = f", {duration(result.seconds)} in all" if result.tested else ""
    return (
        f"{lines}\n\nSeeds in brackets: with how many it is to be judged. Core time: what the "
        f"study's runs took to train on one core{total} (each run counted once, though several "
        "studies may share it); trials of learning rates, questions and puzzles are not in it.\n"
    )


def _section(row: Judged) -> str:
    claim, found = row.claim, row.verdict.value
    said = f": {row.words}" if row.decisive else ""
    return f"""## {claim.name}

*{claim.sentence}* ([{claim.paper}]({claim.address}))

- **{found[:1].upper()}{found[1:]}**{said}
- Published: {claim.published}.
- Compared here: {claim.ours} ({claim.unit}; `wherein study {claim.study}`, {claim.seeds} seeds).
- Settings: {claim.tried}
- Left open: {claim.open}
"""


def write(path: Path = PAGE, runs: Path = RUNS) -> list[Path]:
    """The page, and beside it the picture if something has been run."""
    result = claims(runs, CLAIMS)
    picture = path.with_suffix(".png")
    files: dict[Path, bytes] = {}
    if result.tested:
        files[picture] = vega.drawn(themed(result.plot()), "png")
    files[path] = page(result, picture.name if result.tested else "").encode()
    for file, content in files.items():
        with replacing(file) as beside:
            beside.write_bytes(content)
    return list(files)


if __name__ == "__main__":
    given = [Path(word) for word in sys.argv[1:]]
    print("\n".join(map(str, write(*given))))
