"""``compare`` of models on documents."""

from __future__ import annotations

import numpy as np
import pytest

from discrim import LogisticRegression, TextClassifier, compare
from discrim.errors import DataError
from discrim.text import WordCounts, documents

pl = pytest.importorskip("polars")


@pytest.fixture(scope="module")
def mails():
    """Two kinds of mail: each takes most of its words from a list of its own."""
    rng = np.random.default_rng(0)
    spam = ["win", "money", "prize", "free", "claim", "now"]
    ham = ["lunch", "noon", "meeting", "home", "later", "thanks"]
    texts = [
        " ".join([*rng.choice(own, 4), *rng.choice(other, 2)])
        for own, other in ((spam, ham), (ham, spam))
        for _ in range(60)
    ]
    return pl.DataFrame({"mail": texts, "kind": ["spam"] * 60 + ["ham"] * 60})


def labelled(mails):
    return documents(mails, text="mail", target="kind")


def test_the_figures_are_those_of_the_counts(mails):
    found = compare(labelled(mails))
    counts = WordCounts().fit_transform(mails["mail"].to_list())
    alone = compare(counts.toarray(), mails["kind"].to_list(), ["Multinomial NB", "Complement NB"])
    assert set(found.table.index) == {"Multinomial NB", "Complement NB", "Bernoulli NB", "Logistic", "Baseline"}
    for name in alone.table.index:
        assert found[name].posterior == pytest.approx(alone[name].posterior, abs=1e-6)


def test_words_are_not_standardised(mails):
    """A word that is rare would be blown up by that; counts are in one unit anyway."""
    found = compare(labelled(mails), models=["Logistic"])
    counts = WordCounts().fit_transform(mails["mail"].to_list())
    model = LogisticRegression(C=found.rows[0].setting["C"]).fit(counts, mails["kind"].to_list())
    assert found.best.model_.coef_ == pytest.approx(model.coef_, abs=1e-6)


def test_copies_of_a_document_stay_in_one_fold(mails):
    found = compare(labelled(pl.concat([mails, mails])), models=["Bernoulli NB"])
    assert np.array_equal(found.folds[:120], found.folds[120:])


def test_the_title_counts_documents(mails):
    found = compare(labelled(mails), models=["Bernoulli NB"])
    assert "120 documents x 12 words" in str(found)


def test_the_best_model_takes_documents(mails):
    best = compare(labelled(mails)).best
    assert isinstance(best, TextClassifier)
    assert best.predict(["free money now", "home for lunch"]).tolist() == ["spam", "ham"]
    assert best.score(labelled(mails)) > 0.9
    assert "money" in str(best.summary())


def test_the_report_says_where_the_words_come_from(mails, tmp_path):
    page = compare(labelled(mails), models=["Bernoulli NB"]).report(tmp_path / "mails.html").read_text()
    assert "<dt>Words</dt><dd>those of all documents, chosen without using their labels</dd>" in page


def test_models_of_dense_columns_are_left_out_with_the_reason(mails):
    found = compare(labelled(mails), models=["LDA", "Bernoulli NB"])
    assert found.table.loc["LDA", "note"] == "dense columns are needed; counts of words are sparse"
    assert found.chosen == "Bernoulli NB"


def test_weights_of_documents_count(mails):
    weighted = mails.with_columns(weight=pl.Series(np.where(np.arange(120) % 3 == 0, 2.0, 1.0)))
    found = compare(documents(weighted, text="mail", target="kind", weight="weight"), models=["Bernoulli NB"])
    wrong = found["Bernoulli NB"].predicted != weighted["kind"].to_numpy()
    assert found.table["error"].iloc[0] == pytest.approx(np.average(wrong, weights=weighted["weight"].to_numpy()))


def test_documents_without_labels_are_refused(mails):
    with pytest.raises(DataError, match="There are no labels with these documents"):
        compare(documents(mails, text="mail"))
