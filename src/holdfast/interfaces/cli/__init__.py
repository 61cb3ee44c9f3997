"""The command line.

`main` is the root: it runs one command and turns what a user can cause into a sentence, a next
step and an exit code. A command parses, calls `Project` once and hands the value to `output.show`;
`phrases` puts values into sentences, `invocation` knows the folder, the environment and the terminal.
"""

from holdfast.lazy_module import lazy_modules

TYPE_CHECKING = False
if not TYPE_CHECKING:
    __getattr__ = lazy_modules(__name__, __path__[0])
