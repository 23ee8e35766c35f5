"""The line that shows how far a long pass is."""

from __future__ import annotations

import pytest

from discrim.engines import progress


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress, "monotonic", lambda: now[0])
    return now


def test_the_time_left_is_in_proportion_to_the_rows(clock):
    with progress.Progress("reading", 1000) as shown:
        shown.add(250)
        clock[0] = 0.5
        assert shown.line() == "reading: [######..................]  25% of 1,000 rows"
        clock[0] = 4.0
        assert shown.line() == "reading: [##........]  25% of 1,000 rows, about 12 s left"
        shown.add(750)
        assert shown.line() == "reading: [########################] 100% of 1,000 rows"


def test_more_rows_than_were_expected_are_no_more_than_all(clock):
    shown = progress.Progress("reading", 1000)
    shown.add(1200)
    clock[0] = 9.0
    assert shown.line() == "reading: [########################] 100% of 1,000 rows"


def test_models_are_counted_and_the_time_left_is_never_cut_off(clock):
    for title in (
        "comparing LDA",
        "comparing Bayesian QDA, tuning 12/45",
        "comparing A long name of a model, fold 10/10",
    ):
        shown = progress.Progress(title, 13, "models", clock=True)
        shown.left, shown.done = 123.0, 8
        assert shown.line().endswith("8 of 13 models done, about 123 s left")
        assert len(shown.line()) <= 79
    shown = progress.Progress("comparing LDA", 13, "models", clock=True)
    shown.left, shown.done = 123.0, 8
    assert shown.line() == "comparing LDA: [######....] 8 of 13 models done, about 123 s left"


def test_without_a_total_the_rows_so_far_are_shown(clock):
    shown = progress.Progress("reading", None)
    shown.add(1200)
    clock[0] = 9.0
    assert shown.line() == "reading: 1,200 rows"
