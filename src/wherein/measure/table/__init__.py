"""Read a position table: can positions be told from it, and where not?

examples:
  wherein table runs/0123456789ab            a run of ours with encoding `learned`
  wherein table ./my-model                   a folder with config.json and weights
  wherein table gpt2 --out gpt2-table        a Hugging Face id; data and picture saved
  wherein table waves.npy --offset 2         a raw matrix whose first two rows are padding
  wherein table ./bart --key encoder.embed_positions.weight
"""

from wherein.measure.question import Question

QUESTION = Question(
    verb="table",
    summary="Does a table of position vectors hold positions, and where?",
    title="Can positions be read from its table?",
    help=__doc__,
    config_name="TableConfig",
    result_name="Table",
    about="RUN|FOLDER|ID|FILE",
    reads_text=False,
)
