"""The work graph: what is ready, what waits and why, who works on what, and how it is drawn and moved."""

from holdfast.lazy_module import lazy_modules

lazy_modules(__name__)
