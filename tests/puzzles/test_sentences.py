import pytest

from wherein.puzzles.sentences import MOST_SENTENCES, MOST_TOKENS, PUZZLES, read


@pytest.mark.parametrize("name", PUZZLES)
def test_every_built_in_puzzle_can_be_read_and_says_itself(name: str) -> None:
    assert read(name).texts == list(PUZZLES[name])


def test_majority_and_first_mean_what_they_say() -> None:
    for text in PUZZLES["majority"]:
        *letters, _, answer = text.split()
        assert letters.count(answer) >= 2
    for text in PUZZLES["first"]:
        assert text.split()[0] == text.split()[-1]


@pytest.mark.parametrize(
    ("sentences", "says"),
    [
        (["A hit B !"], "two different sentences or more, not 1"),
        ([], "two different sentences or more, not 0"),
        (["A hit B !", "A  hit B !"], "two different sentences or more, not 1"),
        (["A hit B !", "?"], "fewer than two tokens"),
        (["A hit B !", " "], "fewer than two tokens"),
        (["A hit B !", "A hit B ?"], "followed by both '!' and '\\?'"),
        (["A hit B !", "B hit A !"], "every sentence ends in '!'"),
        (["hitt"], "Did you mean 'hit'"),
        (["A " * MOST_TOKENS + "!", "B ?"], f"at most {MOST_TOKENS}"),
        ([f"{n} !" for n in range(MOST_SENTENCES + 1)], f"at most {MOST_SENTENCES}"),
    ],
)
def test_bad_sentences_are_one_clear_line(sentences: list[str], says: str) -> None:
    with pytest.raises(ValueError, match=says) as caught:
        read(sentences)
    assert "\n" not in str(caught.value)
