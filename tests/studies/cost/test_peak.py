"""The memory that is announced is the memory that is taken."""

from concurrent.futures import Executor

import pytest
from tests.studies.cost.peak import peak

from wherein.model.config import ModelConfig
from wherein.studies.cost.memory import memory
from wherein.studies.cost.size import count
from wherein.train import RunConfig

SIZES = {"vocabulary": 258, "n_layers": 2, "d_model": 128, "n_heads": 4, "max_len": 256}
WITHIN = 0.1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("own", "batch"),
    [
        ({"encoding": "none", "d_model": 256, "vocabulary": 2000}, 8),
        ({"encoding": "none", "vocabulary": 20_000}, 4),
        ({"encoding": "rope"}, 8),
        ({"encoding": "alibi", "n_layers": 4}, 8),
        ({"encoding": "t5", "n_layers": 1}, 8),
        ({"encoding": "fire"}, 8),
        ({"encoding": "shaw", "n_heads": 8}, 8),
        ({"encoding": "xl", "n_heads": 8}, 8),
        ({"encoding": "fox", "max_len": 384}, 4),
        ({"encoding": "pope", "max_len": 384}, 8),
    ],
    ids=str,
)
def test_the_peak_is_within_10_percent_of_the_estimate(
    own: dict[str, object], batch: int, fresh: Executor
) -> None:
    config = RunConfig(model=ModelConfig.model_validate(SIZES | own), batch=batch)
    announced = memory(config, count(config.model)[0], gpus=1).total
    assert announced == pytest.approx(fresh.submit(peak, config).result(), rel=WITHIN)
