"""Where a Chromium is, and how to get one: Debian's package, else the build that Playwright downloads.

`python -m tests.web.chromium` installs it if there is none.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome")


def find() -> str | None:
    """The path of a Chromium of the system; None if only Playwright may have one."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def install() -> int:
    """Install one if there is none; gives an exit status."""
    if find():
        return 0
    if os.geteuid() == 0 and shutil.which("apt-get"):
        log = subprocess.DEVNULL
        subprocess.run(["apt-get", "update", "-qq"], stdout=log, stderr=log, check=False)
        wanted = ["chromium", "fonts-dejavu-core"]
        command = ["apt-get", "install", "-qq", "-y", "--no-install-recommends", *wanted]
        subprocess.run(command, stdout=log, stderr=log, check=False)
    if find():
        return 0
    done = subprocess.run([str(Path(sys.executable).parent / "playwright"), "install", "chromium"], check=False)
    if done.returncode:
        print("No Chromium: install the package `chromium` of your system, then run this again.", file=sys.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(install())
