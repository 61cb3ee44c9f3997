"""Our SQLite files: private, and safe for several connections of one process."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.store.database_file import make_private

READS = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
print(db.execute("SELECT * FROM t").fetchall())
db.close()
"""


def read_elsewhere(path: Path) -> str:
    return subprocess.run([sys.executable, "-c", READS, str(path)], check=True, capture_output=True, text=True).stdout


def test_a_second_connection_takes_no_locks_from_the_first(tmp_path: Path) -> None:
    """Else the next process that ends deletes the log that the first one writes to, with all it acknowledges."""
    path = tmp_path / "a.db"
    make_private(str(path))
    first = sqlite3.connect(path, isolation_level=None)
    first.execute("PRAGMA journal_mode = WAL")
    first.execute("CREATE TABLE t (x)")
    make_private(str(path))
    sqlite3.connect(path).close()
    assert read_elsewhere(path) == "[]\n"
    first.execute("INSERT INTO t VALUES (1)")
    assert read_elsewhere(path) == "[(1,)]\n"
    first.close()


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_a_file_that_others_could_read_becomes_private(tmp_path: Path) -> None:
    """Earlier versions left the mode to the umask."""
    path = tmp_path / "deep" / "a.db"
    make_private(str(path))
    assert path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700
    path.chmod(0o644)
    make_private(str(path))
    assert path.stat().st_mode & 0o777 == 0o600
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(OSError, match="symbolic links"):
        make_private(str(tmp_path / "link"))
