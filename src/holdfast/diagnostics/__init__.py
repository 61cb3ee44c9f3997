"""Is it sound: doctor, check, timeline, diff, status."""

from holdfast.lazy_module import lazy_modules

lazy_modules(__name__)
