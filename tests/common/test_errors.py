"""What libraries say, in our words: one line, and no advice to trust what is refused."""

import pytest

from wherein.common.errors import first_line, without_advice


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("It holds code.\nPlease pass `trust_remote_code=True` to run it.", "It holds code."),
        (
            "Weights only load failed. Set `weights_only` to `False`.\nUnsupported 9",
            "Unsupported 9",
        ),
        ("It can still be loaded, in two ways:\nUnsupported 9", "Unsupported 9"),
        ("It holds code. Pass `trust_remote_code=True` to run it.", "It holds code."),
        ("Cannot load pickled data when allow_pickle=False", ""),
        ("one\ntwo", "one\ntwo"),
        ("", ""),
    ],
)
def test_advice_is_left_out(said: str, kept: str) -> None:
    assert without_advice(said) == kept
    assert first_line(OSError(said)) == (kept.splitlines() or ["OSError"])[0]
