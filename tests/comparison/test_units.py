"""``compare`` does not depend on the units of columns, nor on where their zero is."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import discrim
from discrim import compare, datasets
from discrim.comparison import compared_rows
from discrim.comparison.prepared import PreparedClassifier

FIGURES = ["error", "error_low", "error_high", "log_loss", "auc", "brier", "parameters"]


def tables():
    """Ordinary ones, one with more columns than rows, and one with a column that never varies."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 60)
    yield "wine", *load_wine(return_X_y=True)
    yield "iris", *datasets.load_iris().xy
    yield "wide", rng.normal(size=(60, 90)) + 0.6 * labels[:, None] * (np.arange(90) < 10), labels
    yield "constant", np.column_stack([rng.normal(size=(60, 3)) + labels[:, None], np.full(60, 0.1)]), labels


def printed(found):
    """The table as it is printed, without times and settings."""
    return [re.sub(r" \d[\d,.]* m?s ", " ", " ".join(line.split())) for line in repr(found).splitlines()]


@pytest.mark.parametrize(
    ("name", "cv"), [("wine", 5), ("iris", 2), ("wide", 5), ("wide", 2), ("constant", 5), ("constant", 2)]
)
def test_powers_of_ten_and_shifts_change_no_printed_digit(name, cv):
    x, labels = next((x, labels) for table, x, labels in tables() if table == name)
    rng = np.random.default_rng(7)
    units, shifts = 10.0 ** rng.integers(-6, 7, x.shape[1]), 3.0 * rng.normal(size=x.shape[1])
    first, second = compare(x, labels, cv=cv), compare((x + shifts) * units, labels, cv=cv)
    assert first.chosen == second.chosen
    assert printed(first) == printed(second)
    for figure in FIGURES:
        a, b = first.table[figure].to_numpy(), second.table.loc[first.table.index, figure].to_numpy()
        assert a == pytest.approx(b, rel=1e-5, abs=1e-6, nan_ok=True), figure


def test_missing_values_in_any_units_are_the_same():
    x, labels = load_wine(return_X_y=True)
    x[np.random.default_rng(0).random(x.shape) < 0.04] = np.nan
    first, second = (compare(each, labels, cv=5) for each in (x, x * 10.0 ** np.arange(-6, 7) + 1.0))
    assert printed(first) == printed(second)


def test_amounts_beside_codes_do_not_silence_the_codes():
    """As in credit data: what counts is in columns of zeros and ones, and an amount dwarfs them."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (2000, 4)).astype(float)
    amounts = np.exp(rng.normal(11.0, 1.0, (2000, 12)))
    labels = (rng.random(2000) < 1 / (1 + np.exp(-(codes @ [2.0, -2.0, 1.5, -1.0] - 1.5)))).astype(int)
    found = compare(np.column_stack([amounts, codes]), labels)
    errors = found.table["error"]
    for name in ("Logistic", "Ridge", "Lasso"):
        assert errors[name] < errors["LDA"] + 0.01, name
    assert errors["Logistic"] < errors["Baseline"] - 0.05


def test_standardising_is_learned_from_the_training_part_alone():
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, 120)
    x = rng.normal(size=(120, 4)) + labels[:, None]
    x[7] = 1e6
    found = compare(x, labels, ["Logistic", "Ridge"])
    test = found.folds == found.folds[7]
    for name, peer in (("Logistic", LogisticRegression), ("Ridge", RidgeClassifier)):
        held_out = found[name].predicted[test]
        # With any penalty that is not too strong, the one row far out has no say in the model that predicts it.
        alone = make_pipeline(StandardScaler(), peer()).fit(x[~test], labels[~test])
        assert (held_out == alone.predict(x[test])).mean() > 0.8


def test_best_takes_rows_in_the_users_units():
    x, labels = load_wine(return_X_y=True)
    found = compare(x, labels, ["Logistic"])
    best = found.best
    assert isinstance(best, PreparedClassifier)
    peer = make_pipeline(StandardScaler(), LogisticRegression(C=best.model_.C, tol=1e-10, max_iter=1000))
    assert best.predict_proba(x) == pytest.approx(peer.fit(x, labels).predict_proba(x), abs=1e-4)
    assert best.score(x, labels) == peer.score(x, labels)
    assert best.model_.coef_ == pytest.approx(peer[-1].coef_, abs=1e-3)
    again = clone(best).fit(x, labels)
    assert again.predict_log_proba(x) == pytest.approx(best.predict_log_proba(x), abs=1e-6)
    assert again.decision_function(x).shape == (178, 3)


def test_best_knows_the_names_of_columns():
    pd = pytest.importorskip("pandas")
    x, labels = load_wine(return_X_y=True)
    frame = pd.DataFrame(x, columns=[f"c{j}" for j in range(13)])
    best = compare(frame, labels, ["Ridge"]).best
    assert best.feature_names_in_.tolist() == list(frame)
    assert best.n_features_in_ == 13
    assert best.names_ == list(frame)
    text = str(best.summary())
    assert "c12" in text
    assert "standard deviations of the columns" in text
    with pytest.raises(ValueError, match="X lacks 'c0', which the model was fitted on"):
        best.predict(frame.rename(columns={"c0": "other"}))


def test_models_that_units_do_not_matter_to_stay_as_they_are():
    x, labels = datasets.load_iris().xy
    assert type(compare(x, labels, ["LDA"]).best) is discrim.LinearDiscriminantAnalysis
    assert type(compare(x, labels, ["RDA"]).best) is discrim.RegularizedDiscriminantAnalysis
    mine = compare(x, labels, [discrim.LogisticRegression(C=0.5)]).best
    assert type(mine) is discrim.LogisticRegression


def test_sparse_rows_are_scaled_and_not_centred(monkeypatch):
    rng = np.random.default_rng(2)
    x = sparse.random(300, 20, 0.2, random_state=3, format="csr") @ sparse.diags(10.0 ** rng.integers(-4, 5, 20))
    labels = (np.asarray((x != 0).sum(axis=1)).ravel() + rng.normal(size=300) > 4).astype(int)
    dense = compare(x.toarray(), labels, ["Logistic"])
    monkeypatch.setattr(compared_rows, "DENSE_NUMBERS", 0)
    thin = compare(sparse.csr_matrix(x), labels, ["Logistic"])
    assert thin["Logistic"].posterior == pytest.approx(dense["Logistic"].posterior, abs=1e-6)
    assert thin.best.predict_proba(x) == pytest.approx(dense.best.predict_proba(x.toarray()), abs=1e-6)


def test_a_penalised_model_without_enough_rows_to_be_tuned_is_standardised_too():
    x, labels = datasets.load_iris().xy
    rows = [0, 1, 50, 51, 100, 101]
    units = 10.0 ** np.array([-5, 5, 3, 0])
    with_units, plain = (compare(v[rows], labels[rows], ["Ridge", "Logistic"]) for v in (x * units, x))
    assert with_units.table["log_loss"].to_numpy() == pytest.approx(plain.table["log_loss"].to_numpy(), rel=1e-6)


def test_the_result_says_which_models_are_standardised(tmp_path, iris_compared):
    found = iris_compared
    sentence = "Ridge, Lasso and Logistic were fitted to standardised columns, so units do not matter."
    assert sentence in found.remarks
    assert sentence in " ".join(repr(found).split())
    assert sentence in found.report(tmp_path / "report.html").read_text()
    assert sentence in found._repr_html_()


def test_a_column_that_varies_in_one_fold_only_does_not_spoil_the_grid_of_rda():
    """As the borders of pictures: in training parts without that fold the column is constant."""
    rng = np.random.default_rng(0)
    common = rng.normal(size=(300, 1))
    labels = np.arange(300) % 2
    x = np.hstack([common + 0.3 * rng.normal(size=(300, 1)) + 0.5 * labels[:, None], common, np.zeros((300, 1))])
    plain = compare(x[:, :2], labels, ["RDA", "LDA"], cv=5).table["error"]
    x[7, 2] = 1.0
    errors = compare(x, labels, ["RDA", "LDA"], cv=5).table["error"]
    assert plain["RDA"] < 0.25
    assert errors["RDA"] == pytest.approx(plain["RDA"], abs=0.02)
