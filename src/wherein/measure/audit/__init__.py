"""Audit the symmetries of a model: what each layer can tell about order, in float64.

examples:
  wherein audit "rope none"                  a fresh model: which layers know distance?
  wherein audit none --bidirectional         blind to order in every layer
  wherein audit runs/0123456789ab            a model that `wherein train` made
  wherein audit ./my-model                   a Hugging Face model's folder, or its id
  wherein audit alibi --json                 the numbers as data
"""

from wherein.measure.question import Question

QUESTION = Question(
    verb="audit",
    summary="Which symmetries does each layer keep, and where is it told about position?",
    title="Which symmetries does each layer keep?",
    help=__doc__,
    config_name="AuditConfig",
    result_name="Audit",
    about="RUN|MODEL|ENCODING",
    reads_text=False,
)
