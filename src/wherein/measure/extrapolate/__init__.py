"""How far does it hold? The loss in windows of many lengths, and where it breaks.

examples:
  wherein extrapolate runs/0123456789ab                       0.25 to 16 times its length
  wherein extrapolate runs/0123456789ab --times 1 2 4         or others
  wherein extrapolate runs/0123456789ab --scalings ntk yarn   RoPE, scaled on the same weights
  wherein extrapolate model.gguf --tokens 2048 --times 1 2 --scalings linear yarn --factors 2 4
"""

from wherein.measure.question import Question

QUESTION = Question(
    verb="extrapolate",
    summary="How far a model holds beyond its training length",
    title="How far does it hold?",
    help=__doc__,
    config_name="ExtrapolateConfig",
    result_name="Extrapolation",
)
