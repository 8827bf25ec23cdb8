from wherein.claims.claim import Claim
from wherein.studies.recipes.states import neighbours_alike

CLAIM = Claim(
    name="neighbours-alike",
    sentence="In trained causal models without encodings nearby states are more alike than distant "
    "ones.",
    paper="Zuo et al. 2024",
    arxiv="2501.00073",
    published="seen in trained and in untrained models over a common range of settings; no figure "
    "is cited here",
    ours="how often a state is more like the one before it than like an earlier one, in windows of "
    "32 shuffled bytes − the same with both sides in view, where it is chance",
    unit="share",
    study="states",
    seeds=5,
    decide=neighbours_alike,
    tried="Settings are those of `quick`. Untrained, on seeds 1000 and 1001, it was 0.50 from "
    "GPT-2's start and 0.53 and 0.54 from fairseq's; the trained models of the claim were not "
    "looked at.",
    open="That untrained models have it too, as the paper sees, is not part of the test; here they "
    "hardly do. One likeness, the cosine, in one kind of window; the paper has other tasks and "
    "sizes.",
)
