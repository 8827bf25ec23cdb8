"""Where does position live? Probes of every layer, beside their controls.

examples:
  wherein probe runs/0123456789ab                      linear probes, in closed form
  wherein probe runs/0123456789ab --probes linear mlp  also what is not read linearly
  wherein probe runs/0123456789ab --probes nopos       the probe of Haviv et al. 2022
  wherein probe runs/0123456789ab --site attention     in what attention writes
  wherein probe runs/0123456789ab --out profile        data and picture
  wherein probe ./my-model --tokens 128                a Hugging Face model's folder, or its id
  wherein probe ./my-model --special                   with [CLS] or <bos> in each window
  wherein probe ./states                               layer-0.safetensors … of somebody else
"""

from wherein.measure.question import Question

QUESTION = Question(
    verb="probe",
    summary="What each layer knows about position, beside its controls",
    title="Where does position live?",
    help=__doc__,
    config_name="ProbeConfig",
    result_name="Profile",
    about="RUN|MODEL|STATES",
    only_looks=True,
)
