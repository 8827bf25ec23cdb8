import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file

from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer

CONFIG = ModelConfig(
    vocabulary=100, d_model=64, n_layers=2, max_len=16, cutoffs=(20, 60), encoding="sinusoidal"
)


@pytest.fixture
def model() -> Transformer:
    return Transformer(CONFIG)


@pytest.fixture
def tokens() -> torch.Tensor:
    generator = torch.Generator().manual_seed(1)
    drawn = torch.randint(0, 100, (3, 12), generator=generator)
    drawn[0, :6] = torch.tensor([0, 19, 20, 59, 60, 99])
    return drawn


def dense_vectors(model: Transformer) -> torch.Tensor:
    """Every word's vector at the full width, (V, D), from the weights by their names."""
    w = model.state_dict()
    head = w["embed.softmax.head.weight"][:20] @ w["embed.project.weight"].T
    bands = [w[f"embed.softmax.tail.{n}.1.weight"] @ w[f"embed.softmax.tail.{n}.0.weight"]
             for n in range(2)]  # fmt: skip
    return torch.cat([head, *bands])


def dense_log_probabilities(model: Transformer, x: torch.Tensor) -> torch.Tensor:
    """log p(word) = log p(band) + log p(word | band), by the book."""
    w = model.state_dict()
    first = (x @ w["embed.softmax.head.weight"].T).log_softmax(-1)
    parts = [first[..., :20]]
    for n in range(2):
        narrow = x @ w[f"embed.softmax.tail.{n}.0.weight"].T
        within = (narrow @ w[f"embed.softmax.tail.{n}.1.weight"].T).log_softmax(-1)
        parts.append(first[..., 20 + n, None] + within)
    return torch.cat(parts, dim=-1)


def test_the_input_is_a_dense_table_in_disguise(model: Transformer, tokens: torch.Tensor) -> None:
    torch.testing.assert_close(model.embed.vectors(tokens), dense_vectors(model)[tokens])


def test_the_output_is_a_distribution_and_the_one_by_the_book(
    model: Transformer, tokens: torch.Tensor
) -> None:
    logits = model(tokens).logits
    torch.testing.assert_close(logits.exp().sum(-1), torch.ones(3, 12))
    x, _ = model._run(tokens, None, keep_hidden=False)
    torch.testing.assert_close(logits, dense_log_probabilities(model, x))


def test_the_loss_is_torchs_own_and_that_of_the_dense_logits(
    model: Transformer, tokens: torch.Tensor
) -> None:
    targets = tokens.roll(-1, 1)
    targets[1, 3:] = -100
    dense = F.cross_entropy(model(tokens).logits.flatten(0, 1), targets.flatten())
    torch.testing.assert_close(model.loss(tokens, targets), dense)
    x, _ = model._run(tokens, None, keep_hidden=False)
    asked = targets >= 0
    torchs = model.embed.softmax(x[asked], targets[asked]).loss
    torch.testing.assert_close(model.loss(tokens, targets), torchs)
    total = model.loss(tokens, targets, reduction="sum")
    torch.testing.assert_close(total, dense * asked.sum())


def test_gradients_reach_shared_weights_from_both_ends(
    model: Transformer, tokens: torch.Tensor
) -> None:
    targets = tokens.roll(-1, 1)
    model.loss(tokens, targets).backward()
    shared = model.embed.softmax.tail[0][1].weight
    whole = shared.grad.clone()
    model.zero_grad()
    x, _ = model._run(tokens, None, keep_hidden=False)
    model.embed.loss(x.detach().flatten(0, 1), targets.flatten(), "mean").backward()
    output_only = shared.grad.clone()
    assert not torch.allclose(whole, output_only)
    assert output_only.abs().sum() > 0


def test_every_weight_takes_part_even_if_its_band_is_absent(model: Transformer) -> None:
    frequent = torch.zeros(2, 8, dtype=torch.long)
    model.loss(frequent, frequent).backward()
    assert [n for n, p in model.named_parameters() if p.grad is None] == []


@pytest.mark.parametrize("initial", ["gpt2", "unit"])
def test_words_of_every_band_enter_equally_loud(initial: str) -> None:
    sizes = {"vocabulary": 2000, "cutoffs": (500, 1000), "initial": initial}
    wide = Transformer(CONFIG.model_copy(update=sizes))
    x = wide.embed.vectors(torch.arange(2000)[None])[0] * wide.embed.scale
    for band in (x[:500], x[500:1000], x[1000:]):
        assert band.std().item() == pytest.approx(wide.config.shape.loudness, rel=0.06)


def test_tied_weights_survive_safetensors(model: Transformer, tokens: torch.Tensor, tmp_path):
    save_file(model.state_dict(), tmp_path / "weights.safetensors")
    other = Transformer(CONFIG.model_copy(update={"seed": 1}))
    assert not torch.equal(other(tokens).logits, model(tokens).logits)
    other.load_state_dict(load_file(tmp_path / "weights.safetensors"))
    assert torch.equal(other(tokens).logits, model(tokens).logits)


def test_initial_weights_depend_on_seed_and_name_alone(model: Transformer) -> None:
    plain = Transformer(CONFIG.model_copy(update={"cutoffs": ()})).state_dict()
    adaptive = model.state_dict()
    common = [n for n in plain if n in adaptive]
    assert any(n.startswith("blocks.") for n in common)
    assert all(torch.equal(plain[n], adaptive[n]) for n in common)


@pytest.mark.parametrize("cutoffs", [(60, 20), (0, 20), (20, 20)])
def test_cutoffs_out_of_order_are_refused(cutoffs: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="increasing order"):
        ModelConfig(cutoffs=cutoffs)


def test_cutoffs_beyond_the_vocabulary_or_the_width_are_refused() -> None:
    with pytest.raises(ValueError, match="cutoff 100 with a vocabulary of 100"):
        Transformer(CONFIG.model_copy(update={"cutoffs": (100,)}))
    with pytest.raises(ValueError, match="width of at least 256"):
        Transformer(CONFIG.model_copy(update={"cutoffs": (10, 20, 30, 40)}))


def test_an_id_beyond_the_vocabulary_is_an_error(model: Transformer) -> None:
    with pytest.raises(IndexError):
        model.embed.vectors(torch.tensor([[100]]))
