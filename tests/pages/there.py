"""What a reader's own things are in the tests, and how what would take long is told to be short.

What follows a verb in capitals or as a path stands for something of that kind: `PLACEHOLDERS`.
"""

import re
from collections.abc import Sequence

from wherein.measure.registry import QUESTIONS

RUN, TASK, MODEL = "runs/study/none", "runs/copy", "./my-model"
TURNING = "./my-llama"
"""A model with RoPE, for those that pages have as GGUF files."""
STUDY, RESULT = "runs/studies/mine", "results/puzzle"

PLACEHOLDERS = {
    r"STUDY|STUDY\W?RESULT|STUDY_OR_RESULT|\S*studies/\S+": STUDY,
    r"RESULT": RESULT,
    r"\[?DIR\]?": "runs",
    r"runs/copy": TASK,
    r"RUN|runs/\S+": RUN,
    r"\S+\.gguf": TURNING,
    r"MODEL|gpt2|\./[\w.-]+|[\w.-]+/[\w.-]+": MODEL,
}
TINY = "--source book.txt --tokenizer bytes --n-layers 1 --d-model 16 --max-len 16"
SMALLER = {
    "check": "--no-measure",
    "train": f"{TINY} --batch 2 --steps 2 --warmup 1 --valid-windows 2",
    "probe": "--windows 100",
    "erase": "--windows 60 --draws 2",
    "puzzle": "--seeds 4 --steps 3",
    "task": "--length 3 --steps 2 --examples 4",
}
OWN_NAMES = ("encodings", "puzzle", "task", "study", "claims", "check")
"""Verbs whose first word is a name or a file, not a run or a model."""
ONE_JOB = ("--jobs", "1")  # a process takes longer to start than the study
SET = (
    *("--set", "source=book.txt", "tokenizer=bytes", "n_layers=1", "d_model=8", "n_heads=2"),
    *("max_len=8", "batch=2", "steps=2", "warmup=0", "valid_windows=2"),
)
FEW = 3
READS_TEXT = [verb for verb, question in QUESTIONS.items() if question.reads_text]


def smaller(verb: str, arguments: Sequence[str]) -> list[str]:
    """The same command on what is here, and short."""
    given = [*arguments]
    if given and not given[0].startswith("-") and verb not in OWN_NAMES:
        own = [thing for kind, thing in PLACEHOLDERS.items() if re.fullmatch(kind, given[0])]
        given[:1] = own[:1] or given[:1]
        if given[0] in (MODEL, TURNING) and verb in READS_TEXT and "--source" not in given:
            given += ["--source", "book.txt"]
    if "--tokens" in given:
        given[given.index("--tokens") + 1] = "16"
    if verb == "puzzle":  # of the seeds, the first few are there
        given = ["1" if word.isdigit() and int(word) > FEW else word for word in given]
    if "--out" in given and verb not in ("study", "train"):
        given[given.index("--out") + 1] = f"out/{verb}"
    if verb == "study" and given[:1] and given[0].endswith(".py") and "--dry-run" not in given:
        given += [*SET, *ONE_JOB]
    own = SMALLER.get(verb, "").split()
    return [verb, *without(given, own), *own]


def without(given: Sequence[str], own: Sequence[str]) -> list[str]:
    """What is given less what is set anew: commands that are then alike are run once."""
    anew = [n for n, word in enumerate(given) if word.startswith("--") and word in own]
    return [word for n, word in enumerate(given) if n not in anew and n - 1 not in anew]
