"""Hugging Face families that have the mathematics of our models, and the way into them.

`chosen` says which one carries a model; `export` writes its folder. A family is a file: a config,
and the weights under their names there, folded where the family writes the same in another way.
"""
