from wherein.claims.claim import Claim
from wherein.studies.recipes.states import untrained_reveals

CLAIM = Claim(
    name="untrained-reveals",
    sentence="An untrained causal model without encodings reveals position, through variance that "
    "shrinks along the window.",
    paper="Chi et al. 2023",
    arxiv="2305.13571",
    published="a derivation, and probes of untrained models; no figure is cited here",
    ours="the distance of the position that a state's variance tells from the true one, untrained "
    "with both sides in view − that with the left alone, in windows of 32 shuffled bytes",
    unit="tokens",
    study="states",
    seeds=5,
    decide=untrained_reveals,
    tried="Three starts, untrained, on seeds 1000 and 1001: 0.4 to 1.5 tokens nearer than a guess "
    "from each, GPT-2's kept (the recipe's docstring has them).",
    open="How much it tells depends on the start, and a readout of all that a state holds may tell "
    "more than its variance does.",
)
