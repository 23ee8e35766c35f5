"""A whole session in a folder, in a terminal of 80 columns and in a pipe: from a table to programs that answer it."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys

import numpy as np
import pytest

from .test_terminal import in_terminal

pl = pytest.importorskip("polars")
pytest.importorskip("click")
pytest.importorskip("pyarrow")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
# Lines of a file, as they are typed, with progress that is shown at once; as all processes of the command do it, they
# end with their exit code.
TYPED = """
import os, shlex, sys
folder, limit = sys.argv[1:]
if int(limit):
    import resource
    resource.setrlimit(resource.RLIMIT_DATA, (int(limit), int(limit)))
os.chdir(folder)
from discrim.engines import progress
progress.PATIENCE, progress.PAUSE = 0.0, 0.0
from discrim.cli.commands import discrim
for line in open("session.txt"):
    try:
        discrim(shlex.split(line)[1:], prog_name="discrim")
    except SystemExit as end:
        if end.code:
            raise
"""
SESSION = """\
discrim compare first.csv -t status --cv 5 --save best.discrim --report report.html
discrim fit lda first.csv -t status -o kept.discrim --keep-statistic
discrim summary kept.discrim
discrim predict best.discrim next.csv -o answers.csv --id 'loan id'
discrim predict best.discrim next.csv -o answers.parquet
discrim evaluate best.discrim next.csv -t status
discrim roc best.discrim next.csv -t status
discrim explain kept.discrim next.csv --row 2
discrim update kept.discrim next.csv -t status -o both.discrim
discrim forget both.discrim next.csv -t status -o left.discrim
discrim fit lda first.csv -t status --features debt,home -o a.discrim --keep-statistic
discrim fit lda next.csv -t status --features debt,home -o b.discrim --keep-statistic
discrim merge a.discrim b.discrim -o ab.discrim
discrim export best.discrim --to onnx -o best.onnx
discrim export best.discrim --to sql --table loans --dialect sqlite --keep 'loan id' -o best.sql
discrim export best.discrim --to c -o best.c
discrim export best.discrim --to python -o best.py
"""
IN_PYTHON = """
import json, sys
made = {}
exec(compile(open(sys.argv[1], encoding="utf-8").read(), "best", "exec"), made)
print(json.dumps([made["predict"](row) for row in json.load(open(sys.argv[2]))]))
"""


def month(n, seed):
    """Loans of some month: numbers with gaps, categories, identifiers, and names that must be quoted."""
    rng = np.random.default_rng(seed)
    k = rng.integers(2, size=n)
    income = np.where(rng.random(n) < 0.05, np.nan, rng.normal(30 + 9 * k, 6).round(2))
    home = (rng.integers(3, size=n) + (rng.random(n) < k / 3)) % 3
    return pl.DataFrame(
        {
            "loan id": np.arange(n) + 100_000 * seed,
            "income": pl.Series(income, nan_to_null=True),
            'term "months"': rng.normal(24 - 5 * k, 5).round(1),
            "debt": rng.exponential(5 - 2 * k).round(3),
            "home": np.array(["rent", "own", "it's paid"])[home],
            "status": np.array(["bad", "good; paid"])[k],
        }
    )


@pytest.fixture
def folders(tmp_path):
    """Two folders with the same tables, and the lines to type."""
    made = [tmp_path / "terminal", tmp_path / "pipe"]
    for folder in made:
        folder.mkdir()
        month(400, 1).write_csv(folder / "first.csv")
        month(60, 2).write_csv(folder / "next.csv")
        (folder / "session.txt").write_text(SESSION)
    return made


def test_a_session_in_a_terminal_and_in_a_pipe(folders, run_program):
    terminal, pipe = folders
    code, shown = in_terminal(TYPED, terminal, 0)
    assert code == 0, shown
    kept = [line.rpartition("\x1b[K")[2] for line in shown.split("\r\n")]
    assert max(map(len, kept)) <= 80
    assert "predicting: [" in shown
    done = run_program(TYPED, arguments=[pipe, 0])
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert "predicting" not in done.stdout + done.stderr
    # What is printed and written is the same in both, but for the times that a comparison took.
    assert {*done.stdout.splitlines()} <= {*kept}
    written = sorted(path.name for path in terminal.iterdir())
    assert written == sorted(path.name for path in pipe.iterdir())
    assert len(written) == 3 + 14
    for name in {*written} - {"report.html"}:
        assert (terminal / name).read_bytes() == (pipe / name).read_bytes(), name
    check_programs(pipe)


def check_programs(folder):
    """The files that were exported, each in the real thing, give the classes that the command gave."""
    table, answers = month(60, 2), pl.read_csv(folder / "answers.csv")
    expected = answers["class"].to_list()
    assert answers["loan id"].to_list() == table["loan id"].to_list()
    assert pl.read_parquet(folder / "answers.parquet")["class"].to_list() == expected
    with sqlite3.connect(":memory:") as database:
        quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in table.columns)
        database.execute(f"CREATE TABLE loans ({quoted})")
        database.executemany(f"INSERT INTO loans VALUES ({', '.join('?' * table.width)})", table.rows())
        found = {row[0]: row[1] for row in database.execute((folder / "best.sql").read_text())}
    assert [found[number] for number in table["loan id"]] == expected
    (folder / "rows.json").write_text(json.dumps(table.to_dicts()))
    command = [sys.executable, "-I", "-S", "-c", IN_PYTHON, folder / "best.py", folder / "rows.json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == expected
    if shutil.which("gcc"):
        strict = ["gcc", "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-c"]
        subprocess.run([*strict, folder / "best.c", "-o", folder / "best.o"], check=True)
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(str(folder / "best.onnx"))
    feed = {}
    for each in session.get_inputs():
        column = table[each.name]
        text = each.type == "tensor(string)"
        feed[each.name] = (column.to_numpy().astype(object) if text else column.cast(pl.Float64).to_numpy())[:, None]
    assert session.run(None, feed)[0].ravel().tolist() == expected
