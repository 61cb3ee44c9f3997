"""Search by meaning: texts as vectors, by a model on this machine, for users who installed the extra.

`onnx_builder` writes the model's file from its weights, `download` fetches it, `backends` runs one, `vectors` stores
the results by content and model, `coverage` finds texts without a vector and `fill_vectors` computes them in bounded
steps, `similarity` compares a question with all of them and caches what is slow to load. No write waits for any of
this, and without a model search uses words alone.
"""

from holdfast.lazy_module import lazy_modules

lazy_modules(__name__)
