"""``compare`` against refitting by hand with scikit-learn, and what it promises of its folds and its choice."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import discrim
from discrim import compare, cross_validate, datasets
from discrim.comparison import comparing, tuning
from discrim.comparison.scores import holm
from discrim.errors import DiscrimError
from discrim.evaluation import mcnemar
from discrim.families.logistic.elastic_net import STRENGTHS
from discrim.families.regression import lasso
from discrim.families.regression import recipe as regression

X, y = datasets.load_iris().xy
ALL = (
    "Gaussian NB", "LDA", "LDA, shrunken", "Bayesian LDA", "Ridge", "QDA", "Bayesian QDA", "Lasso", "RDA", "Logistic",
)  # fmt: skip


def overlapping(n=240, p=5, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, n)
    x = rng.standard_normal((n, p)) * (1 + 0.4 * labels[:, None]) + 0.8 * rng.standard_normal((classes, p))[labels]
    return x, labels


def folds_of(x, labels, count=4):
    number = np.empty(len(labels), int)
    for f, (_, test) in enumerate(StratifiedKFold(count).split(x, labels)):
        number[test] = f
    return number


def tuned_by_hand(x, labels, number, models, loss):
    """For every fold the model of least inner loss, judged on the other folds by fits without both; its posteriors."""
    count = number.max() + 1
    posterior, chosen = np.empty((len(x), labels.max() + 1)), []
    for f in range(count):
        losses = np.zeros(len(models))
        for g in set(range(count)) - {f}:
            train, test = (number != f) & (number != g), number == g
            losses += [loss(model(x[train], labels[train]), x[test], labels[test]) for model in models]
        chosen.append(int(np.argmin(losses)))
        final = models[chosen[-1]](x[number != f], labels[number != f])
        posterior[number == f] = final.predict_proba(x[number == f])
    return posterior, chosen


@pytest.mark.parametrize(
    ("name", "peer"),
    [("LDA", LinearDiscriminantAnalysis()), ("QDA", QuadraticDiscriminantAnalysis()), ("Gaussian NB", GaussianNB())],
)
def test_a_row_without_tuning_is_scikit_learns_cross_validation(name, peer):
    found = compare(X, y, [name], cv=StratifiedKFold(10))
    expected = cross_val_predict(peer, X, y, cv=10, method="predict_proba")
    assert found[name].posterior == pytest.approx(expected, abs=1e-6)
    assert found.table.loc[name, "error"] == (cross_val_predict(peer, X, y, cv=10) != y).mean()


def test_rda_is_tuned_inside_the_folds_as_by_hand():
    x, labels = overlapping()
    number = folds_of(x, labels)
    settings = [(a, g) for a in (0.0, 0.25, 0.5, 0.75, 1.0) for g in (0.0, 0.5, 0.8, 0.95, 1.0)]
    models = [
        lambda u, v, s=s: discrim.RegularizedDiscriminantAnalysis(*s, target="diagonal").fit(u, v) for s in settings
    ]

    def log_loss(model, u, v):
        return -model.predict_log_proba(u)[np.arange(len(v)), v].sum()

    posterior, chosen = tuned_by_hand(x, labels, number, models, log_loss)
    found = compare(x, labels, ["RDA"], cv=StratifiedKFold(4), metric="log_loss")
    assert len(set(chosen)) > 1 or chosen[0] not in (0, len(settings) - 1)
    assert found["RDA"].posterior == pytest.approx(posterior, abs=1e-9)


def test_rda_is_tuned_by_error_where_that_is_asked_for():
    x, labels = overlapping(seed=3)
    number = folds_of(x, labels)
    settings = [(a, g) for a in (0.0, 0.25, 0.5, 0.75, 1.0) for g in (0.0, 0.5, 0.8, 0.95, 1.0)]
    models = [
        lambda u, v, s=s: discrim.RegularizedDiscriminantAnalysis(*s, target="diagonal").fit(u, v) for s in settings
    ]

    def error_then_log_loss(model, u, v):
        return (model.predict(u) != v).sum() - 1e-6 * model.predict_log_proba(u)[np.arange(len(v)), v].sum()

    posterior, _ = tuned_by_hand(x, labels, number, models, error_then_log_loss)
    assert compare(x, labels, ["RDA"], cv=StratifiedKFold(4))["RDA"].posterior == pytest.approx(posterior, abs=1e-9)


def test_logistic_regression_is_tuned_inside_the_folds_as_by_hand():
    x, labels = overlapping(seed=1)
    number = folds_of(x, labels)
    models = [
        lambda u, v, C=C: make_pipeline(
            StandardScaler(), LogisticRegression(C=C, solver="newton-cholesky", tol=1e-10)
        ).fit(u, v)
        for C in STRENGTHS
    ]

    def log_loss(model, u, v):
        return -model.predict_log_proba(u)[np.arange(len(v)), v].sum()

    posterior, _ = tuned_by_hand(x, labels, number, models, log_loss)
    found = compare(x * 10.0 ** np.arange(-2, 3), labels, ["Logistic"], cv=StratifiedKFold(4))
    assert found["Logistic"].posterior == pytest.approx(posterior, abs=1e-5)


class Indicators:
    """Regression of 2 Y - 1 on standardised columns by a scikit-learn regressor, as a classifier."""

    def __init__(self, regressor):
        self.regressor = make_pipeline(StandardScaler(), regressor)

    def fit(self, u, v):
        self.regressor.fit(u, 2.0 * np.eye(3)[v] - 1.0)
        return self

    def predict_proba(self, u):
        e = np.exp(self.regressor.predict(u))
        return e / e.sum(axis=1, keepdims=True)


def squared_error(model, u, v):
    return ((model.regressor.predict(u) - (2.0 * np.eye(3)[v] - 1.0)) ** 2).sum()


def test_ridge_is_tuned_by_squared_error_as_by_hand():
    x, labels = overlapping(n=90, p=12, seed=2)
    number = folds_of(x, labels)
    models = [lambda u, v, a=a: Indicators(Ridge(alpha=a)).fit(u, v) for a in 100.0 * regression.RIDGE_STRENGTHS]
    posterior, chosen = tuned_by_hand(x, labels, number, models, squared_error)
    assert max(chosen) < len(models) - 1
    found = compare(x * 10.0 ** np.arange(-6, 6), labels, ["Ridge"], cv=StratifiedKFold(4))
    assert found["Ridge"].posterior == pytest.approx(posterior, abs=1e-8)


def test_lasso_is_tuned_by_squared_error_as_by_hand():
    x, labels = overlapping(n=90, p=12, seed=2)
    number = folds_of(x, labels)
    targets = 2.0 * np.eye(3)[labels] - 1.0
    top = np.abs(StandardScaler().fit_transform(x).T @ (targets - targets.mean(axis=0))).max() / 90
    alphas = 10.0 ** np.ceil(np.log10(top)) * lasso.STRENGTHS
    models = [lambda u, v, a=a: Indicators(Lasso(alpha=a, tol=1e-12, max_iter=100_000)).fit(u, v) for a in alphas]
    posterior, _ = tuned_by_hand(x, labels, number, models, squared_error)
    found = compare(x * 10.0 ** np.arange(-6, 6), labels, ["Lasso"], cv=StratifiedKFold(4))
    assert found["Lasso"].posterior == pytest.approx(posterior, abs=1e-7)


@pytest.mark.parametrize("enough", [1, 120, 10_000])
def test_no_answer_depends_on_the_labels_of_its_own_fold(enough, monkeypatch):
    monkeypatch.setattr(tuning, "ENOUGH_ROWS", enough)
    x, labels = overlapping(n=300)
    number = folds_of(x, labels, 6)
    cv = [(np.flatnonzero(number != f), np.flatnonzero(number == f)) for f in range(6)]
    for f in (0, 3):
        others = labels.copy()
        others[number == f] = np.random.default_rng(f).permutation(labels[number == f])
        first, second = (compare(x, v, ALL, cv=cv) for v in (labels, others))
        for name in ALL:
            a, b = (found[name].posterior[number == f] for found in (first, second))
            assert a == pytest.approx(b, abs=1e-6), name


@pytest.mark.parametrize(("count", "partners"), [(10, 1), (10, 2), (10, 3), (7, 1), (7, 4), (5, 4), (3, 2), (10, 9)])
def test_every_group_has_so_many_partners_and_none_is_its_own(count, partners):
    pairs = tuning._pairs(count, partners)
    degree = np.bincount(np.ravel(pairs), minlength=count)
    assert all(a < b for a, b in pairs)
    assert len(set(pairs)) == len(pairs)
    assert set(degree) == {partners + (partners % 2 and count % 2)}


def test_all_models_have_the_same_folds(iris_compared):
    found = iris_compared
    for row in found.rows:
        assert np.array_equal(found[row.name].folds, found.folds)


def test_a_splitter_is_taken_as_it_is():
    splitter = StratifiedKFold(10, shuffle=True, random_state=3)
    found = compare(X, y, ["LDA"], cv=splitter)
    expected = cross_validate(discrim.LinearDiscriminantAnalysis(), X, y, cv=splitter)
    assert np.array_equal(found.folds, expected.folds)
    assert found.table.loc["LDA", "log_loss"] == pytest.approx(expected.log_loss, rel=1e-12)


@pytest.mark.parametrize("cv", [2, "loo", KFold(5, shuffle=True, random_state=0)])
def test_any_folds_will_do(cv):
    found = compare(X, y, ["LDA", "RDA", "Ridge", "Lasso", "Logistic"], cv=cv)
    assert found.table["error"].notna().all()
    assert found.table.loc["LDA", "error"] < 0.05
    assert found.table.loc["Logistic", "error"] < 0.08


def test_groups_are_handed_to_the_splitter():
    groups = np.arange(150) % 15
    found = compare(X, y, ["LDA"], cv=GroupKFold(5), groups=groups)
    assert all(len(np.unique(found.folds[groups == g])) == 1 for g in range(15))


def test_the_table_shows_what_is_tested_and_sorted():
    found = compare(X[50:], y[50:], [*ALL, LinearSVC()])
    table = found.table
    assert table["error"].is_monotonic_increasing
    best = table.index[0]
    wrong = {name: (found[name].predicted != y[50:]).astype(float) for name in table.index}
    gap = np.array([wrong[name] - wrong[best] for name in table.index])
    assert table["difference"].to_numpy() == pytest.approx(gap.mean(axis=1))
    assert table["difference_error"].to_numpy() == pytest.approx(gap.std(axis=1, ddof=1) / 10)
    # Adjusted for all pairs a p-value is no smaller than that of the pair alone, and no larger than Bonferroni's.
    alone = np.array([mcnemar(np.ones(100), 1 - wrong[best], 1 - wrong[name]).p_value for name in table.index[1:]])
    adjusted, pairs = table["p_value"].to_numpy()[1:], len(table) * (len(table) - 1) / 2
    assert (adjusted >= np.minimum(alone, 1.0) - 0.02).all()
    assert (adjusted <= pairs * alone + 0.001).all()
    assert (table["indistinguishable"][1:] == (table["p_value"][1:] >= 0.05)).all()
    score, fold, late = found["LDA"].posterior[:, 1], found.folds, y[50:] == "virginica"
    gaps = [score[late & (fold == f)][:, None] - score[~late & (fold == f)] for f in range(10)]
    assert table.loc["LDA", "auc"] == pytest.approx(np.mean([(gap > 0) + 0.5 * (gap == 0) for gap in gaps]))
    assert 0.9 < table.loc["LDA", "auc_low"] < table.loc["LDA", "auc"] < table.loc["LDA", "auc_high"] <= 1.0
    assert np.isnan(table.loc["LinearSVC", "log_loss"])
    assert table.loc["LinearSVC", "auc"] > 0.9
    wrong = table.loc["LDA", "error"] * 100
    # A rule of five numbers fitted to 100 rows: 1 + 2 * 5 / 100 times the variance of independent rows.
    assert table.loc["LDA", ["error_low", "error_high"]].tolist() == pytest.approx(
        discrim.evaluation.proportion_interval(wrong / 1.1, 100 / 1.1)
    )


def test_holm_multiplies_by_those_that_are_left_and_never_falls():
    assert holm([0.01, 0.04, 0.03, np.nan]) == pytest.approx([0.03, 0.06, 0.06, np.nan], nan_ok=True)


def test_the_best_model_is_fitted_to_all_rows_with_its_setting():
    x, labels = overlapping()
    for name, parameter in (("RDA", "alpha"), ("Logistic", "C")):
        found = compare(x, labels, [name])
        setting = found.rows[0].setting
        expected = clone(found.best).fit(x, labels)
        assert getattr(getattr(found.best, "model", found.best), parameter) == setting[parameter]
        assert found.best.predict_proba(x) == pytest.approx(expected.predict_proba(x))


@pytest.mark.parametrize("metric", ["log_loss", "auc", "brier"])
def test_other_metrics_sort_the_table(metric):
    found = compare(X[50:], y[50:], ["Gaussian NB", "LDA", "Ridge", "QDA"], metric=metric)
    values = found.table[metric] if metric != "auc" else -found.table[metric]
    assert values.is_monotonic_increasing


def test_a_function_may_be_the_metric():
    def cost(truth, predicted, posterior):
        assert posterior.shape == (len(truth), 3)
        return 5.0 * np.mean((truth == "virginica") & (predicted != truth))

    found = compare(X, y, ["Gaussian NB", "LDA"], metric=cost)
    assert found.rows[0].value == pytest.approx(cost(y, found[found.rows[0].name].predicted, np.zeros((150, 3))))
    assert "cost" in found.verdict


def test_one_row_per_column_is_said_in_the_singular():
    found = compare(np.array([[1.0, 2.0], [2.0, 3.0], [3.0, 1.0], [4.0, 4.0]]), ["x", "y", "x", "y"])
    assert "smallest class has only 1 row per column" in found.verdict


def test_more_columns_than_rows_are_counted_per_row():
    x, labels = np.random.default_rng(0).normal(size=(30, 600)), np.tile([0, 1], 15)
    assert "The smallest class has 40 columns per row" in compare(x, labels, ["Ridge"]).verdict


def test_a_check_that_fails_is_no_reason_to_call_a_table_sparse(monkeypatch):
    def fail(_):
        raise DiscrimError("no test is possible")

    monkeypatch.setattr(comparing, "checks_of_rows", fail)
    rng = np.random.default_rng(0)
    found = compare(rng.normal(size=(40, 2)), np.tile([0, 1], 20))
    assert found.verdict.endswith("were not checked, because the tests failed on these data.")
