"""``discrim gallery``, with a few items."""

from __future__ import annotations

from dataclasses import replace

from click.testing import CliRunner

from discrim.cli.commands import discrim
from discrim.gallery import lectures


def some(monkeypatch, *ids):
    whole = lectures()
    chosen = tuple(replace(one, items=tuple(item for item in one.items if item.id in ids)) for one in whole)
    monkeypatch.setattr("discrim.gallery.building.lectures", lambda: chosen)


def test_the_command_writes_the_pages_and_says_where(monkeypatch, tmp_path):
    some(monkeypatch, "C1", "N1", "O2")
    found = CliRunner().invoke(discrim, ["gallery", str(tmp_path / "site")])
    assert found.exit_code == 0, found.output
    assert "3 items" in found.output
    assert "The Boston data are not on this computer" in found.output.replace("\n  ", " ")
    assert (tmp_path / "site" / "index.html").is_file()


def test_a_folder_with_other_files_is_refused_in_words(monkeypatch, tmp_path):
    some(monkeypatch, "C1")
    (tmp_path / "notes.txt").write_text("x")
    found = CliRunner().invoke(discrim, ["gallery", str(tmp_path)])
    assert found.exit_code == 2
    assert "holds other files" in " ".join(found.output.split())
    assert found.stdout == ""
