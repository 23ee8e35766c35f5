"""The summary of naive Bayes of counts shows the columns that set a class apart."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from discrim import BernoulliNB, ComplementNB, MultinomialNB
from discrim.inference.conjugate import log_odds_moments

NAMES = ["the", "free", "meeting", "prize"]
RATES = {"ham": [3.0, 0.05, 1.0, 0.01], "spam": [3.0, 1.0, 0.02, 0.8]}


def fitted(kind):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    y = np.repeat(["ham", "spam"], 200)
    X = pd.DataFrame(rng.poisson([RATES[label] for label in y]).astype(float), columns=NAMES)
    return kind().fit(X, y)


@pytest.mark.parametrize("kind", [BernoulliNB, ComplementNB, MultinomialNB])
def test_the_distinctive_columns_come_first_and_fit_the_page(kind):
    summary = fitted(kind).summary()
    assert max(map(len, str(summary).splitlines())) <= 80
    frame = summary.to_frame()
    first = {label: part.index[0] for label, part in frame.groupby("class")}
    assert first["ham"] == "meeting"
    assert first["spam"] in {"free", "prize"}
    assert (frame["lower"] < frame["log odds ratio"]).all()
    assert summary.to_frame("Classes")["rows"].tolist() == [200, 200]
    assert "<table>" in summary._repr_html_()


def test_the_interval_is_that_of_two_beta_posteriors():
    model = fitted(BernoulliNB)
    row = model.summary().to_frame().query("`class` == 'spam'").loc["prize"]
    here, there = model.posterior("prize", "spam"), model.posterior("prize", "ham")
    (mean, variance), (other, spread) = (log_odds_moments(np.array(q.a), np.array(q.b)) for q in (here, there))
    half = 1.959963984540054 * np.sqrt(variance + spread)
    assert_allclose(row["log odds ratio"], mean - other)
    assert_allclose([row["lower"], row["upper"]], [mean - other - half, mean - other + half])


def test_one_class_has_nothing_to_be_distinguished_from():
    assert "(no rows)" in str(MultinomialNB().fit([[1, 2]], ["a"]).summary())
