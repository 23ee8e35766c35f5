"""The command in a terminal of 80 columns: what it prints fits, and long reads show how far they are."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import discrim as library

pytest.importorskip("polars")
pytest.importorskip("click")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
# The command as it is, with a line that is drawn at once.
IMPATIENT = (
    "from discrim.engines import progress; progress.PATIENCE, progress.PAUSE = 0.0, 0.0;"
    "from discrim.cli import main; main()"
)


SENT = (
    "import os, signal; from discrim.cli import tabular;"
    "tabular.Output.write = lambda *_: os.kill(os.getpid(), signal.SIGTERM);"
)


def in_terminal(code, *arguments, given=None):
    """Exit code, and everything that appears on a terminal of 80 columns."""
    import fcntl
    import pty
    import struct
    import termios

    here, there = pty.openpty()
    fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = {**os.environ, "TERM": "xterm"}
    environment.pop("COLUMNS", None)
    command = [sys.executable, "-c", code, *map(str, arguments)]
    process = subprocess.Popen(
        command, stdin=there if given is None else given, stdout=there, stderr=there, env=environment
    )
    os.close(there)
    shown = b""
    try:
        while chunk := os.read(here, 1 << 16):
            shown += chunk
    except OSError:
        pass  # what Linux reports at the end of a terminal
    os.close(here)
    return process.wait(timeout=120), shown.decode()


def test_from_the_table_to_predictions_in_a_terminal(table, tmp_path):
    model = tmp_path / "m.discrim"
    verbs = (
        ["fit", "LDA", table, "-t", "species", "-o", model],
        ["evaluate", model, table, "-t", "species"],
        ["predict", model, table, "--id", "petal width", "-o", tmp_path / "out.csv"],
    )
    for verb in verbs:
        code, shown = in_terminal(IMPATIENT, *verb)
        assert code == 0, shown
        kept = [line.rpartition("\x1b[K")[2] for line in shown.split("\r\n")]
        # A path may be longer than a line by itself.
        assert all(len(line) <= 80 or str(tmp_path) in line for line in kept), shown
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 151
    assert "predicting: [" in shown
    assert "100% of" in shown


def test_a_terminal_as_standard_input_is_no_table(tmp_path):
    code, shown = in_terminal("from discrim.cli import main; main()", "fit", "LDA", "-", "-t", "species")
    assert code == 2
    assert "which is a terminal here" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("code", "exit_code", "sentence"),
    [
        # A scheduler ends the command while it writes.
        (
            SENT,
            143,
            "",
        ),
        # As on a full disk.
        ("import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500));", 2, "File too large ('"),
    ],
    ids=["asked to end", "full disk"],
)
def test_what_was_begun_is_cleared_away_and_what_was_there_stays(
    run_program, flowers, tmp_path, code, exit_code, sentence
):
    flowers.write_csv(tmp_path / "t.csv")
    library.LinearDiscriminantAnalysis().fit(library.scan(tmp_path / "t.csv", target="species")).save(tmp_path / "m")
    (tmp_path / "out.csv").write_text("before")
    arguments = ["predict", tmp_path / "m", tmp_path / "t.csv", "-o", tmp_path / "out.csv"]
    done = run_program(f"{code} from discrim.cli import main; main()", arguments=arguments)
    assert done.returncode == exit_code, done.stderr
    assert sentence in " ".join(done.stderr.split())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "out.csv", "t.csv"]
    assert (tmp_path / "out.csv").read_text() == "before"
