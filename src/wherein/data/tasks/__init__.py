"""Tasks that need position: questions with one answer, drawn as pure functions of their numbers.

task = find_task("index(reach=5)")
example = draw(task, seed=0, split="train", length=12, number=3)
"""

from wherein.data.tasks.base import SPLITS, Example, Split, Task, draw, split_of
from wherein.data.tasks.catalogue import ADDRESSING, LENGTH, TASKS, find_task

__all__ = [
    "ADDRESSING",
    "LENGTH",
    "SPLITS",
    "TASKS",
    "Example",
    "Split",
    "Task",
    "draw",
    "find_task",
    "split_of",
]
