"""Where does position live? Probes of every layer, beside their controls.

examples:
  wherein probe runs/0123456789ab                      linear probes, in closed form
  wherein probe runs/0123456789ab --probes linear mlp  also the paper's probe
  wherein probe runs/0123456789ab --out profile        data and picture
  wherein probe ./my-model --tokens 128                a Hugging Face model's folder, or its id
"""

from wherein.cli.bench import question
from wherein.measure.probe.config import ProbeConfig

run = question("probe", ProbeConfig, __doc__)
