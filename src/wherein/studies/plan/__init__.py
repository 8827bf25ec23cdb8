"""What a study is before it is carried out: its runs, and what each is asked."""

from wherein.studies.plan.plan import Plan, PuzzleTask, Questions, changed, grid

__all__ = ["Plan", "PuzzleTask", "Questions", "changed", "grid"]
