"""The page of the command: every line that it types prints what stands below it."""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path

import pytest

pytest.importorskip("polars")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "command.md"
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)


def printed(discrim, line):
    """What a line of the page prints, notes and errors included; ``| head -n 5`` and ``| tail -n 1`` cut it."""
    command, _, cut = line.partition(" | ")
    program, *arguments = shlex.split(command)
    assert program == "discrim"
    lines = discrim(*arguments).output.splitlines()
    if cut:
        kind, _, count = cut.split()
        lines = lines[: int(count)] if kind == "head" else lines[-int(count) :]
    return "\n".join(lines)


def rewritten(discrim, page):
    """The page with what its lines print now."""

    def block(found):
        typed = [line for line in found[1].splitlines() if line.startswith("$ ")]
        shown = [f"{line}\n{out}\n" if (out := printed(discrim, line[2:])) else f"{line}\n" for line in typed]
        return f"```console\n{''.join(shown)}```"

    return BLOCK.sub(block, page)


def test_the_page_shows_what_the_command_prints(discrim, tmp_path, monkeypatch):
    """``python -m pytest tests/cli/test_docs.py`` with DISCRIM_WRITE_DOCS=1 in the environment writes the page anew."""
    monkeypatch.chdir(tmp_path)
    page = PAGE.read_text(encoding="utf-8")
    found = rewritten(discrim, page)
    if "DISCRIM_WRITE_DOCS" in os.environ:
        PAGE.write_text(found, encoding="utf-8")
    if sys.platform == "linux":
        assert found == page
