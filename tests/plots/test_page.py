"""The page about pictures: its code runs, and its table names every function."""

import re
from pathlib import Path

from discrim import plots

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "plots.md").read_text(encoding="utf-8")


def test_the_code_of_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"(?ms)^```python\n(.*?)^```", PAGE)
    exec(compile(block, "docs/plots.md", "exec"), {"__name__": "page"})
    assert (tmp_path / "iris.png").stat().st_size > 1000


def test_the_table_has_every_function_once():
    first = [row.split("|")[1] for row in PAGE.splitlines() if row.startswith("| `")]
    named = [name for cell in first for name in re.findall(r"`(\w+)`", cell)]
    assert sorted(named) == sorted(plots.__all__)


def test_the_contact_sheet_is_small():
    assert 20_000 < (Path(__file__).resolve().parents[2] / "docs" / "plots.png").stat().st_size < 300_000
