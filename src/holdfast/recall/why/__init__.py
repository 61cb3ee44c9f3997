"""Why a line is there: which run and which turn wrote it, or that nobody recorded it."""

from holdfast.lazy_module import lazy_modules

lazy_modules(__name__)
