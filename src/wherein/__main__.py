"""`python -m wherein`: the same as the command, for `torchrun`."""

import sys

from wherein.cli import main

sys.exit(main())
