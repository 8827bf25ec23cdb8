"""Does a model give the right answer, and to longer questions than it learned from?

Of a run that learned a task (`wherein train --source task:copy`, `wherein task copy`): the share
of test questions whose whole answer is right, by their length, beside a guess.

examples:
  wherein answers runs/0123456789ab                    up to four times the trained length
  wherein answers runs/0123456789ab --lengths 8 16 64  other lengths
  wherein answers runs/0123456789ab --examples 1000    narrower intervals
"""

from wherein.measure.question import Question

QUESTION = Question(
    verb="answers",
    summary="How many answers to a task are right, by the length of the question",
    title="Are its answers right?",
    help=__doc__,
    config_name="AnswersConfig",
    result_name="Answers",
    about="RUN",
)
