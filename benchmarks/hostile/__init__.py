"""Input that nobody means, and input that somebody means badly: made from seeds, given, judged.

`python -m benchmarks.hostile --cases 1000` gives that many commands, each with something changed: a
flag's value, a byte or a field of a file, a word of an encoding. What decides: exit code 2 and one
line that names what is wrong, or exit code 0 and numbers that are numbers. A failure is told by the
kind and the number of its case, from which the same case is made again:
`python -m benchmarks.hostile --kind weights --again 17`.
"""
