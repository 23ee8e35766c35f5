"""Every number that the lectures print, by the checks of the gallery's own items, without pictures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from discrim.gallery import check, lectures

SHARED = Path(__file__).resolve().parents[3] / "shared"
DATA = SHARED / "data" if (SHARED / "data").is_dir() else None
ITEMS = {item.id: item for lecture in lectures() for item in lecture.items}
SLOW = {"O27"}


@pytest.mark.parametrize("name", [pytest.param(i, marks=pytest.mark.slow) if i in SLOW else i for i in ITEMS])
def test_the_numbers_of_the_item_are_those_of_the_lecture(name):
    page = check(ITEMS[name], DATA)
    if page.stand_ins and name != "O2":
        pytest.skip(f"needs data of the lecture: {page.stand_ins[0]}")
    assert page.checks, "an item that agrees with nothing"
    assert [one for one in page.checks if not one.good] == []


def test_the_items_are_those_of_the_list_of_figures():
    path = SHARED / "FIGURES.md"
    if not path.is_file():
        pytest.skip("needs FIGURES.md in the folder shared beside the repository")
    listed = re.findall(r"^\| ([CNLOR]\d+) \|", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert list(ITEMS) == listed
    assert len(ITEMS) == 101


def test_every_named_misprint_stands_beside_its_correction():
    pages = [check(ITEMS[name], DATA) for name in ("O7", "O38", "C16", "R10", "N4", "L10")]
    assert all(page.misprints for page in pages)
    assert all(m.printed != m.corrected and m.reason for page in pages for m in page.misprints)
