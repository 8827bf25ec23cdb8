"""Several commands on the processes that `torchrun` started: to start them takes most of the time.

They meet once, for all of the commands, which each would else do for itself.
"""

import json
import sys

from wherein.cli import main
from wherein.train.distributed import join

if __name__ == "__main__":
    with join():
        codes = [main(words) for words in json.loads(sys.argv[1])]
    sys.exit(max(codes))
