"""The folder that is written: whole or not at all, every item on its page, nothing from the network."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from discrim.errors import ParameterError
from discrim.gallery import build, lectures
from discrim.gallery.contents import Lecture
from discrim.gallery.item import Items, Page


def few(monkeypatch, *ids, more=()):
    """Only these items, each lecture's page as it is."""
    chosen = tuple(
        replace(lecture, items=(*(item for item in lecture.items if item.id in ids), *more))
        for lecture in lectures()[:1]
    )
    monkeypatch.setattr("discrim.gallery.building.lectures", lambda: chosen)
    return chosen


def broken(page):
    raise ValueError("no such thing")


@pytest.fixture
def bad_item():
    items = Items()
    items.item("X1", "An item that fails")(broken)
    return items[0]


def test_pages_hold_picture_code_numbers_and_misprints(monkeypatch, tmp_path):
    few(monkeypatch, "C1", "C6", "C18")
    seen = []
    built = build(tmp_path / "site", done=seen.append)
    assert seen == ["C1", "C6", "C18"]
    assert (built.items, built.wrong, built.failed) == (3, {}, {})
    page = (tmp_path / "site" / "chicago.html").read_text()
    assert page.count("<section id=") == 3
    assert "recipes.equal_covariances()" in page and "page.check(" in page  # noqa: PT018 - both are the code
    assert "(1 − p) f0" in page
    assert page.count('role="img" aria-label="') == 3
    assert (
        'id="C6"' in (tmp_path / "site" / "index.html").read_text()
        or "chicago.html#C6" in (tmp_path / "site" / "index.html").read_text()
    )


def test_ids_are_unique_and_nothing_is_fetched(monkeypatch, tmp_path):
    few(monkeypatch, "C2", "C3", "C7")
    build(tmp_path / "site")
    for path in (tmp_path / "site").glob("*.html"):
        text = path.read_text()
        ids = re.findall(r'\bid="([^"]+)"', text)
        assert len(ids) == len(set(ids))
        assert set(re.findall(r"url\(#([^)]+)\)", text)) <= set(ids)
        addresses = re.findall(r'(?:src|href)="(http[^"]+)"', text)
        assert not addresses
        assert "<script" not in text


def test_a_failing_item_names_itself_and_the_others_are_written(monkeypatch, tmp_path, bad_item):
    few(monkeypatch, "C1", more=(bad_item,))
    built = build(tmp_path / "site")
    assert built.failed == {"X1": "ValueError: no such thing"}
    page = (tmp_path / "site" / "chicago.html").read_text()
    assert "This item could not be made: ValueError: no such thing" in page
    assert 'aria-label="Two clouds' in page


def test_an_earlier_gallery_is_replaced_and_other_folders_are_refused(monkeypatch, tmp_path):
    few(monkeypatch, "C1")
    build(tmp_path / "site")
    build(tmp_path / "site")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["site"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("x")
    with pytest.raises(ParameterError, match="holds other files"):
        build(tmp_path / "mine")
    with pytest.raises(ParameterError, match="is a file"):
        build(tmp_path / "mine" / "thesis.tex")
    with pytest.raises(ParameterError, match="'data' parameter"):
        build(tmp_path / "site", data=tmp_path / "nowhere")


def test_an_earlier_gallery_survives_an_interrupt(monkeypatch, tmp_path):
    few(monkeypatch, "C1")
    build(tmp_path / "site")
    before = (tmp_path / "site" / "chicago.html").read_text()

    def stop(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(tmp_path / "site", done=stop)
    assert (tmp_path / "site" / "chicago.html").read_text() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["site"]


def test_numbers_that_differ_are_reported(monkeypatch, tmp_path):
    items = Items()

    @items.item("X2", "A wrong number")
    def wrong(page: Page) -> None:
        page.check("two and two", 5, 4)
        page.check("pi", 3.14, np.pi, tol=0.005)

    few(monkeypatch, more=tuple(items))
    built = build(tmp_path / "site")
    assert built.wrong == {"X2": ["two and two"]}
    page = (tmp_path / "site" / "chicago.html").read_text()
    assert page.count("differs") == 1
    assert page.count("✓") == 1


def test_every_data_set_of_the_lectures_has_a_stand_in_that_says_so():
    from discrim.gallery.found import STAND_INS

    for name, make in STAND_INS.items():
        rows = make()
        assert "stand in" in rows.stand_in or "stand" in rows.stand_in, name
        assert len(rows.X) == len(rows.y)


def test_lectures_are_plain_values():
    first = lectures()[0]
    assert isinstance(first, Lecture)
    assert first.items[0].all_code.startswith("X, y = recipes.equal_covariances()")


def test_a_number_that_is_missing_is_not_written_as_zero():
    page = Page()
    page.check("nothing there", [0.5, 1.0], [np.nan, 1.0], tol=0.05)
    assert not page.checks[0].good
    assert page.checks[0].found == "nan, 1.0"


def test_the_stand_in_of_spam_has_the_columns_of_the_lecture():
    from discrim.gallery.found import STAND_INS

    names = STAND_INS["spam"]().names
    assert len(names) == len(set(names)) == 57
    assert {"make", "num3d", "capitalTotal", "charHash"} <= set(names)
