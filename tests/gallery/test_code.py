"""The lines that are shown: a program that runs by itself, and draws what the item draws."""

from __future__ import annotations

import pytest

from discrim import plots
from discrim.gallery import lectures

ITEMS = {item.id: item for lecture in lectures() for item in lecture.items}
# Items whose data do not come along: on stand-ins they take their time.
OTHER_DATA = {"C11", "O3", "O32", "O33", "O34", "O35", "O36", "O37", "O39"}
SLOW = {"O27"}


@pytest.mark.parametrize("name", [name for name in ITEMS if name not in OTHER_DATA | SLOW])
def test_the_lines_run_by_themselves(name, monkeypatch, capsys):
    monkeypatch.setattr(plots, "animate", lambda *_, **__: None, raising=False)
    monkeypatch.setattr(plots, "animate_descent", lambda *_, **__: None, raising=False)
    code = ITEMS[name].code
    assert "page." not in code
    space: dict[str, object] = {"__name__": "shown"}
    exec(compile(code, name, "exec"), space)
    assert "plots." in code or "shown" in space or capsys.readouterr().out or "in_space" in code


def test_comparisons_and_what_only_they_need_are_left_out():
    assert ITEMS["L8"].code.splitlines()[-3:-1] == [
        "at = [1, 2, 5, 20, 100, len(trace) - 1]",
        "plots.steps(model, X, y, at=at)",
    ]
    assert "page.check" in ITEMS["L8"].all_code
    assert "hyperplane" not in ITEMS["L8"].code


def test_panels_of_one_picture_stay_together():
    code = ITEMS["C3"].code
    assert "ax=left" in code
    assert "ax=right" in code


def test_most_pictures_are_a_call_of_the_library_in_a_few_lines():
    drawn = [item for item in ITEMS.values() if "page.show(" in item.all_code]
    by_hand = [item.id for item in drawn if "draw.in_space" in item.code]
    assert by_hand == ["N6", "N7", "N8"]
    short = [item for item in drawn if len(item.code.splitlines()) <= 25]
    assert len(short) > 0.9 * len(drawn)
