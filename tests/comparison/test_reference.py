"""Boosted trees on the folds of the comparison: what they are given, what is said of them, and when they are off."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from discrim import compare, datasets
from discrim.comparison import reference
from discrim.errors import ParameterError


def crossed(n=300, seed=0):
    """Classes that only the product of two columns tells apart."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    return x, np.where(x[:, 0] * x[:, 1] + 0.2 * rng.normal(size=n) > 0, "plus", "minus")


def test_it_is_scikit_learns_on_the_same_folds_and_never_chosen():
    x, y = crossed()
    found = compare(x, y, ["LDA", "Gaussian NB"], cv=3, reference="boosting")
    row = found.table.loc["Boosted trees"]
    assert row["role"] == "reference"
    assert row["error"] < found.table.drop("Boosted trees")["error"].min()
    assert found.chosen != "Boosted trees"
    for f in range(3):
        fitted = HistGradientBoostingClassifier(random_state=0).fit(x[found.folds != f], y[found.folds != f])
        expected = fitted.predict_proba(x[found.folds == f])
        assert found["Boosted trees"].posterior[found.folds == f] == pytest.approx(expected)


def test_the_verdict_says_what_they_would_gain():
    x, y = crossed()
    found = compare(x, y, ["LDA"], cv=3, reference="boosting")
    gain = 100 * (found.table.loc[found.chosen, "error"] - found.table.loc["Boosted trees", "error"])
    assert f"Boosted trees, the reference, make {gain:.1f} points fewer errors" in found.verdict
    assert "(p < 0.001): columns interact" in found.verdict
    assert "~ Boosted trees" in repr(found)


def linear(p):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(300, p))
    return x, (x.sum(axis=1) + rng.normal(size=300) > 0).astype(int)


def test_where_a_line_is_the_truth_there_is_nothing_to_gain():
    verdict = compare(*linear(6), ["LDA"], cv=3, reference="boosting").verdict
    assert "make 5.0 points more errors: there is nothing to gain from them." in verdict


def test_what_a_few_rows_cannot_exclude_is_not_called_nothing():
    found = compare(*linear(3), ["LDA"], cv=3, reference="boosting")
    apart = 100 * found.table.loc["Boosted trees", ["difference", "difference_error"]]
    most = 1.96 * apart["difference_error"] - apart["difference"]
    assert f"no gain is seen, but these rows cannot exclude one of {most:.1f} points" in found.verdict


def test_nothing_is_concluded_from_a_reference_that_leave_one_out_makes_worse_than_guessing():
    rng = np.random.default_rng(4)
    found = compare(rng.normal(size=(24, 3)), np.repeat([0, 1], 12), ["LDA"], cv="loo", reference="boosting")
    row = found.table.loc["Boosted trees"]
    assert row["error"] > 0.9
    assert np.isnan(row["p_value"])
    assert np.isnan(row["error_low"])
    assert "Boosted trees" not in found.verdict


def test_no_model_is_blamed_for_what_none_of_them_follows():
    found = compare(*crossed(), ["LDA"], reference="boosting")
    assert found.chosen == "Baseline"
    assert "columns interact or act in curves that no model here follows" in found.verdict


def test_categories_and_gaps_are_given_as_they_are():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(2)
    town = rng.choice(["bath", "cork", "dover", "ely"], 240)
    size = np.where(rng.random(240) < 0.2, np.nan, rng.normal(size=240))
    y = (np.isin(town, ["bath", "dover"]) ^ np.isnan(size)).astype(int)
    frame = pd.DataFrame({"size": size, "town": pd.Categorical(town)})
    frame.loc[3, "town"] = None
    found = compare(frame, y, ["LDA"], cv=3, reference="boosting")
    assert found.table.loc["Boosted trees", "error"] < 0.3
    codes = np.column_stack([size, frame["town"].cat.codes.replace(-1, np.nan)])
    model = HistGradientBoostingClassifier(categorical_features=[False, True], random_state=0)
    fitted = model.fit(codes[found.folds != 0], y[found.folds != 0])
    assert found["Boosted trees"].posterior[found.folds == 0] == pytest.approx(
        fitted.predict_proba(codes[found.folds == 0])
    )


def test_it_is_off_where_it_costs_too_much_and_where_it_is_not_wanted(monkeypatch):
    X, y = datasets.load_iris().xy
    assert "Boosted trees" not in compare(X, y, ["LDA"], reference=None).table.index
    monkeypatch.setattr(reference, "MOST_SECONDS", 0.1)
    found = compare(X, y, ["LDA"], reference="boosting")
    assert "10 fits of 100 trees would take about" in found.table.loc["Boosted trees", "note"]
    with pytest.raises(ParameterError, match="The 'reference' parameter is 'forest'; it must be 'boosting' or None"):
        compare(X, y, ["LDA"], reference="forest")


def test_a_model_of_the_user_does_not_take_its_name():
    X, y = datasets.load_iris().xy
    tree = HistGradientBoostingClassifier(max_iter=2)
    found = compare(X, y, {"Boosted trees": tree, "Baseline": tree}, cv=2)
    assert {"Boosted trees (2)", "Baseline (2)", "Baseline"} == set(found.table.index)


def test_against_the_baseline_an_area_on_noise_counts_what_rows_have_in_common_twice():
    """Counted once, this would be p = 0.01; over 40 samples of noise 20% were below 0.05, and 7.5% with twice."""
    rng = np.random.default_rng(1033)
    y = rng.integers(0, 2, 120)
    found = compare(rng.normal(size=(120, 3)), y, ["LDA"], metric="auc", cv=3, reference="boosting")
    assert found.chosen == "Baseline"
    assert found.table.loc["Boosted trees", "auc"] > 0.6
    assert "have an AUC that is 0.130 higher, which may be due to chance (p = 0.073)" in found.verdict
