"""The project's memory as pages in a browser, and as static pages; nothing else imports what they are made of."""

from holdfast.lazy_module import lazy_modules

lazy_modules(__name__)
