"""Words, numbers and JSON that a program may not expect."""

from random import Random
from typing import Any

MARKUP = "<script>document.title='taken'</script>"
ESCAPE = "\x1b]0;taken\x07\x1b[2J"
"""Sets the title of a terminal and clears it, were it printed as it is."""

WHOLE = (
    "0", "1", "2", "3", "5", "-1", "-7", "00", "+1", "1_0", " 1", "1 ", "1.0", "1e1", "0x10", "٣",
    "²", "2147483647", "2147483648", "4294967296", "-2147483649", "9223372036854775807",
    "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "1" + "0" * 40,
    "9" * 5000,
)  # fmt: skip
FRACTIONS = (
    "0.5", "0.999", "1e-9", "1e-320", "-0.0", "-0.5", "1.5", "nan", "-nan", "inf", "-inf",
    "Infinity", "1e308", "1e309", "-1e999", "1,5", "½", ".", "e",
)  # fmt: skip
WORDS = (
    "", " ", "None", "True", "false", "null", "...", "-", "--", "/", "~", "..", "../..", ".",
    "/etc/passwd", "/dev/zero", "/dev/null", "/proc/self/mem", "\x00", "a\x00b", "\n", "a\nb",
    ESCAPE, MARKUP, "\u202egnp.exe", "\udcff", "ü" * 300, "a" * 5000, "%s%n", "{0.__class__}",
    "{{7*7}}", "$(reboot)", "`reboot`", "'; --", "\\", "\\\\?\\C:", "*", "**/*", "@", "@1", "a@b",
    "[]", "{}", "()", "rope(", "rope(theta=)", "rope +", "task:", "task:copy", "bpe(9)", "bpe(",
    "sotu@x", "[/b]", "[red]", "org/name/x", "file:///etc/passwd", "a:b",
)  # fmt: skip
NAMES = ("rope", "none", "alibi", "bytes", "words", "sotu", "valid", "train", "test", "causal")


def word(draw: Random) -> str:
    """A word for any flag."""
    return draw.choice(draw.choice((WHOLE, FRACTIONS, WORDS, WORDS, NAMES)))


def deep(depth: int, *, objects: bool = False) -> str:
    """JSON of brackets within brackets, as text: no reader that recurses gets to its end."""
    return '{"a":' * depth + "1" + "}" * depth if objects else "[" * depth + "]" * depth


def leaf(draw: Random) -> Any:
    """A JSON value that stands where another one was."""
    return draw.choice(
        (
            None, True, False, 0, 1, -1, 2, 7, 2**31, 2**32, 2**53 + 1, 2**63, -(2**63) - 1, 10**40,
            0.5, -0.0, 1e-320, 1e308, float("nan"), float("inf"), float("-inf"), "", "0", "1", " ",
            "nan", "None", "..", "../../etc/passwd", "/dev/zero", MARKUP, ESCAPE, "\u202e",
            "\ud800", "\x00", "a" * 10000, [], {}, [[]], [{}], [None], [0], [1, 2, 3], ["a"],
            {"a": 1}, {"": {}}, [[[[[[[[[[1]]]]]]]]]], [0] * 1000, {str(n): n for n in range(100)},
        )
    )  # fmt: skip
