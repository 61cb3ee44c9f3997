"""Meaning: texts as vectors, by a model on this machine, for those who installed the extra.

`graph` and `building` write the model's file from its weights, `fetching` brings it, `onnx` and `command`
run one, `vectors` keeps what they give by content and model, `pending` says what lacks a vector and
`filling` makes them in bounded steps, `near` compares a question with all of them, `warm` keeps what is
dear to load. Nothing here is on the way of a write, and whoever finds no model answers from words alone.
"""

from holdfast.lazy_module import lazy_modules

lazy_modules(__name__)
