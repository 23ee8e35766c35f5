"""The figures of models whose answers are not all classes of theirs."""

from __future__ import annotations

import pytest

import discrim

pytest.importorskip("polars")


def test_a_refused_answer_counts_as_an_error(table):
    from discrim.cli.answering import Question
    from discrim.cli.judging import judged

    rows = discrim.scan(table, target="species")
    model = discrim.decision.RejectingClassifier(discrim.LinearDiscriminantAnalysis(), reject_cost=0.05).fit(rows)
    refused = (model.predict(rows) == "reject").sum()
    found = judged(Question(model, str(table)), "species", None)
    assert refused > 2
    assert round(150 * found.figures["error"]) >= refused
    assert found.summary.tables[0]["kind versicolor", "reject"] > 0
