"""LogisticRegressionCV with offsets and groups: the answers of fits made one by one, and of tables of single trials."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.metrics import accuracy_score, get_scorer, make_scorer
from sklearn.model_selection import KFold, StratifiedKFold

from discrim import LogisticRegression, LogisticRegressionCV, scan
from discrim.errors import DataError, ParameterError

PLAIN = {"scoring": "neg_log_loss", "use_legacy_attributes": False, "Cs": [3.0, 0.02, 0.3]}
SHAPES = {"tall": (120, 4), "wide": (40, 60)}
RATIOS = [0.0, 0.4, 1.0]


def single(n=120, p=4, seed=0):
    """Rows, labels, weights and offsets that matter."""
    rng = np.random.default_rng(seed)
    X, offset = rng.normal(size=(n, p)) * np.linspace(0.3, 3.0, p) + 1.0, rng.normal(size=n) * 1.5
    eta = X[:, 0] - X[:, -1] / 3 + offset
    y = (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(int)
    return X, y, rng.uniform(0.2, 3.0, n), offset


def grouped(n=60, p=3, seed=0):
    """Rows, successes, trials (some are none), weights and offsets."""
    X, _, weight, offset = single(n, p, seed)
    trials = np.random.default_rng(seed + 1).integers(0, 7, n)
    successes = np.random.default_rng(seed + 2).binomial(trials, 1 / (1 + np.exp(-X[:, 0] - offset)))
    return X, successes, trials, weight, offset


def expanded(successes, trials):
    """The group and the outcome of every single trial."""
    group = np.repeat(np.arange(len(trials)), trials)
    outcome = np.concatenate([np.arange(n) < k for k, n in zip(successes, trials, strict=True)])
    return group, outcome.astype(int)


def score_by_hand(scoring, y, p, weight):
    """Mean of the weighted rows, from the definitions."""
    value = (y == (p > 0.5)) if scoring == "accuracy" else np.log(np.where(y == 1, p, 1 - p))
    return np.sum(weight * value) / np.sum(weight)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("l1_ratio", RATIOS)
@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss"])
def test_every_fit_and_score_uses_the_offsets_of_its_rows(shape, l1_ratio, scoring):
    X, y, weight, offset = single(*SHAPES[shape])
    model = LogisticRegressionCV(**{**PLAIN, "scoring": scoring}, l1_ratios=(l1_ratio,), cv=3)
    model.fit(X, y, weight, offset=offset)
    for f, (train, test) in enumerate(StratifiedKFold(3).split(X, y)):
        for c, C in enumerate(model.Cs_):
            alone = LogisticRegression(C=C, l1_ratio=l1_ratio)
            alone.fit(X[train], y[train], weight[train], offset=offset[train])
            theta = np.column_stack([alone.coef_, alone.intercept_])
            assert_allclose(model.coefs_paths_[f, 0, c], theta, rtol=1e-4, atol=1e-5 * np.abs(theta).max())
            p = 1 / (1 + np.exp(-(X[test] @ alone.coef_[0] + alone.intercept_ + offset[test])))
            expected = score_by_hand(scoring, y[test], p, weight[test])
            assert_allclose(model.scores_[f, 0, c], expected, rtol=1e-5)
    best = LogisticRegression(C=model.C_, l1_ratio=l1_ratio).fit(X, y, weight, offset=offset)
    assert_allclose(model.coef_, best.coef_, rtol=1e-5, atol=1e-6)
    assert_allclose(model.predict_proba(X, offset), best.predict_proba(X, offset), rtol=1e-5)
    assert not np.allclose(model.scores_, LogisticRegressionCV(**model.get_params()).fit(X, y, weight).scores_)


@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss", "roc_auc", "neg_brier_score", "balanced_accuracy"])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 3.0, 1: 0.5}], ids=str)
@pytest.mark.parametrize("more", [False, True], ids=["counts", "weights and offsets"])
def test_groups_are_their_trials_one_by_one(scoring, class_weight, more):
    X, successes, trials, weight, offset = grouped()
    group, outcome = expanded(successes, trials)
    settings = {**PLAIN, "scoring": scoring, "class_weight": class_weight, "l1_ratios": (0.0,)}
    together = list(KFold(4, shuffle=True, random_state=0).split(X))
    apart = [tuple(np.flatnonzero(np.isin(group, part)) for part in fold) for fold in together]
    extra, each = ((weight, offset), (weight[group], offset[group])) if more else ((None, None), (None, None))
    table = LogisticRegressionCV(**settings, cv=together).fit(X, successes, extra[0], offset=extra[1], trials=trials)
    rows = LogisticRegressionCV(**settings, cv=apart).fit(X[group], outcome, each[0], offset=each[1])
    assert table.classes_.tolist() == [0, 1]
    assert table.C_ == rows.C_
    for name in ("scores_", "coefs_paths_", "coef_", "intercept_"):
        assert_allclose(getattr(table, name), getattr(rows, name), rtol=1e-8, err_msg=name)


@pytest.mark.parametrize("l1_ratio", [0.4, 1.0])
@pytest.mark.parametrize("cv", [3, KFold(3, shuffle=True, random_state=1)], ids=["stretches", "shuffled"])
def test_groups_are_fitted_one_fold_at_a_time_with_lasso_too(l1_ratio, cv):
    X, successes, trials, weight, offset = grouped(80)
    model = LogisticRegressionCV(**PLAIN, l1_ratios=(l1_ratio,), cv=cv)
    model.fit(X, successes, weight, offset=offset, trials=trials)
    for f, (train, test) in enumerate((KFold(3) if cv == 3 else cv).split(X)):
        for c, C in enumerate(model.Cs_):
            alone = LogisticRegression(C=C, l1_ratio=l1_ratio)
            alone.fit(X[train], successes[train], weight[train], offset=offset[train], trials=trials[train])
            assert_allclose(model.coefs_paths_[f, 0, c, :, :-1], alone.coef_, rtol=1e-4, atol=1e-5)
            log_p = alone.predict_log_proba(X[test], offset[test])
            k, n, w = successes[test], trials[test], weight[test]
            expected = np.sum(w * (k * log_p[:, 1] + (n - k) * log_p[:, 0])) / np.sum(w * n)
            assert_allclose(model.scores_[f, 0, c], expected, rtol=1e-5)


def test_groups_of_one_trial_are_rows():
    X, y, weight, offset = single()
    settings = {**PLAIN, "l1_ratios": (0.0, 1.0), "cv": list(StratifiedKFold(5).split(X, y))}
    rows = LogisticRegressionCV(**settings).fit(X, y, weight, offset=offset)
    for ones in (1, np.ones(len(y))):
        groups = LogisticRegressionCV(**settings).fit(X, y, weight, offset=offset, trials=ones)
        assert_allclose(groups.scores_, rows.scores_, rtol=1e-8)
        assert_allclose(groups.coef_, rows.coef_, rtol=1e-8)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("l1_ratio", RATIOS)
@pytest.mark.parametrize("size", [100.0, 1e4])
def test_an_offset_that_is_the_same_for_all_rows_moves_the_intercepts_alone(shape, l1_ratio, size):
    X, y, weight, _ = single(*SHAPES[shape])
    settings = {**PLAIN, "l1_ratios": (l1_ratio,)}
    plain = LogisticRegressionCV(**settings).fit(X, y, weight)
    moved = LogisticRegressionCV(**settings).fit(X, y, weight, offset=size)
    assert_allclose(moved.scores_, plain.scores_, rtol=1e-6)
    assert_allclose(moved.coefs_paths_[..., :-1], plain.coefs_paths_[..., :-1], rtol=1e-4, atol=1e-6)
    assert_allclose(moved.coefs_paths_[..., -1] + size, plain.coefs_paths_[..., -1], atol=1e-5)
    assert_allclose(moved.coef_, plain.coef_, rtol=1e-5, atol=1e-6)
    assert_allclose(moved.intercept_ + size, plain.intercept_, atol=1e-6)


def test_no_offset_and_an_offset_of_zero_are_the_same():
    X, y, weight, _ = single()
    for scoring in ("accuracy", "neg_log_loss", "roc_auc"):
        settings = {**PLAIN, "scoring": scoring, "l1_ratios": (0.0, 0.5)}
        plain = LogisticRegressionCV(**settings).fit(X, y, weight)
        zero = LogisticRegressionCV(**settings).fit(X, y, weight, offset=np.zeros(len(y)))
        assert_allclose(zero.scores_, plain.scores_, rtol=1e-10)


@pytest.mark.parametrize(
    "hold", [np.asarray, sparse.csr_array, pd.DataFrame, np.ndarray.tolist], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("scoring", ["neg_log_loss", "neg_brier_score"])
def test_offsets_and_trials_follow_rows_in_any_container(hold, scoring):
    X, successes, trials, weight, offset = grouped()
    X = np.round(3 * X).astype(int)
    settings = {**PLAIN, "scoring": scoring, "l1_ratios": (0.0, 1.0), "cv": 3}
    expected = LogisticRegressionCV(**settings).fit(X.astype(float), successes, weight, offset=offset, trials=trials)
    found = LogisticRegressionCV(**settings).fit(hold(X), successes, weight, offset=offset, trials=trials)
    assert_allclose(found.scores_, expected.scores_, rtol=1e-6)
    assert_allclose(found.coef_, expected.coef_, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("scoring", ["roc_auc", "neg_brier_score", "f1", make_scorer(accuracy_score)], ids=str)
def test_a_scorer_judges_predictions_with_the_offsets(scoring):
    X, y, weight, offset = single()
    model = LogisticRegressionCV(**{**PLAIN, "scoring": scoring}, l1_ratios=(0.0,), cv=3)
    model.fit(X, y, weight, offset=offset)
    for f, (train, test) in enumerate(StratifiedKFold(3).split(X, y)):
        for c, C in enumerate(model.Cs_):
            alone = LogisticRegression(C=C).fit(X[train], y[train], weight[train], offset=offset[train])

            class Known(LogisticRegression):
                def decision_function(self, X, alone=alone, known=offset[test]):
                    return alone.decision_function(X, known)

                def predict_proba(self, X, alone=alone, known=offset[test]):
                    return alone.predict_proba(X, known)

                def predict(self, X, alone=alone, known=offset[test]):
                    return alone.predict(X, known)

            told = Known().fit(X[train], y[train])
            expected = get_scorer(scoring)(told, X[test], y[test], sample_weight=weight[test])
            assert_allclose(model.scores_[f, 0, c], expected, rtol=1e-6)


def test_inference_and_choice_of_terms_keep_offsets_and_trials():
    X, successes, trials, weight, offset = grouped()
    given = {"sample_weight": weight, "offset": offset, "trials": trials}
    model = LogisticRegressionCV(**{**PLAIN, "Cs": [np.inf]}, l1_ratios=(0.0,), cv=3).fit(X, successes, **given)
    plain = LogisticRegression(C=np.inf).fit(X, successes, **given)
    assert_allclose(model.summary().std_error, plain.summary().std_error, rtol=1e-6)
    assert_allclose(model.loo_.log_loss, plain.loo_.log_loss, rtol=1e-6)
    assert_allclose(model.step().coef_, plain.step().coef_, rtol=1e-6)


def test_trials_count_where_weights_are_not_routed_to_the_scorer():
    X, successes, trials, weight, _ = grouped()
    group, outcome = expanded(successes, trials)
    folds = list(KFold(3).split(X))
    apart = [tuple(np.flatnonzero(np.isin(group, part)) for part in fold) for fold in folds]
    settings = {**PLAIN, "l1_ratios": (0.0,)}
    with config_context(enable_metadata_routing=True):
        scorer = get_scorer("neg_log_loss").set_score_request(sample_weight=False)
        settings["scoring"] = scorer
        table = LogisticRegressionCV(**settings, cv=folds).fit(X, successes, weight, trials=trials)
        rows = LogisticRegressionCV(**settings, cv=apart).fit(X[group], outcome, weight[group])
    assert_allclose(table.scores_, rows.scores_, rtol=1e-8)


def test_what_was_given_is_not_changed():
    X, successes, trials, weight, offset = grouped()
    given = (X, successes, trials, weight, offset)
    before = [array.copy() for array in given]
    for array in given:
        array.flags.writeable = False
    LogisticRegressionCV(**PLAIN, l1_ratios=(0.0, 1.0)).fit(X, successes, weight, offset=offset, trials=trials)
    for array, expected in zip(given, before, strict=True):
        assert_array_equal(array, expected)


HOLES = np.where(np.isin(np.arange(120), [3, 8]), np.nan, 0.0)


@pytest.mark.parametrize(
    ("fit", "words"),
    [
        ({"offset": np.ones(3)}, r"'offset' parameter has the shape \(3,\); it must be 120 finite numbers"),
        ({"offset": HOLES}, "'offset' parameter .* 2 entries are NaN or infinite, the first in row 3"),
        ({"offset": np.ones((120, 2))}, r"'offset' parameter has the shape \(120, 2\)"),
        ({"trials": [3, 4]}, "y and trials must be two lists of one length"),
        ({"trials": 0.5}, "row [0-9]+ has 1 successes out of 0.5"),
        ({"trials": np.where(HOLES == 0, 2.0, np.nan)}, "row 3 has [01] successes out of nan"),
        ({"trials": -1}, "row 0 has [01] successes out of -1"),
        ({"trials": 0, "y": np.zeros(120)}, "trials is zero in every row"),
        ({"trials": 1, "sample_weight": np.ones(3)}, "3 entries"),
        ({"trials": 1, "y": None}, "With `trials`, y must hold the number of successes"),
        ({"offset": 1.0, "y": np.arange(120) % 3}, "An offset is for two classes; y has 3"),
    ],
    ids=str,
)
def test_the_errors_are_those_of_the_plain_model(fit, words):
    X, y, _, _ = single()
    told = []
    for model in (LogisticRegressionCV(**PLAIN, l1_ratios=(0.0,)), LogisticRegression()):
        with pytest.raises(ValueError, match=words) as error:
            model.fit(X, **{"y": y, **fit})
        told.append((type(error.value), str(error.value)))
    assert told[0] == told[1]


def test_a_scan_has_no_trials(tmp_path):
    X, y, _, _ = single()
    pd.DataFrame(X, columns=list("abcd")).assign(y=y).to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(ParameterError, match="`trials` cannot be given with a scan"):
        LogisticRegressionCV(**PLAIN, l1_ratios=(0.0,)).fit(scan(tmp_path / "rows.csv", target="y"), trials=2)


def test_a_function_that_cannot_see_offsets_or_trials_is_refused():
    X, successes, trials, _, offset = grouped()
    y = (successes > 1).astype(int)

    def mine(model, rows, labels):
        return 0.0

    def share_right(labels, predictions):
        return float(np.mean(labels == predictions))

    by_function = LogisticRegressionCV(**{**PLAIN, "scoring": mine}, l1_ratios=(0.0,))
    with pytest.raises(ParameterError, match=r"With `offset`, the 'scoring' parameter must be a name or come from"):
        by_function.fit(X, y, offset=offset)
    with pytest.raises(ParameterError, match=r"With `trials`.* does not see the trials of the rows"):
        by_function.fit(X, successes, trials=trials)
    unweighted = LogisticRegressionCV(**{**PLAIN, "scoring": make_scorer(share_right)}, l1_ratios=(0.0,))
    unweighted.fit(X, y, offset=offset)
    with pytest.raises(ParameterError, match=r"must take sample_weight, which counts the trials; 'share_right' does"):
        unweighted.fit(X, successes, trials=trials)


@pytest.mark.parametrize("scoring", ["neg_log_loss", "accuracy", "neg_brier_score"])
@pytest.mark.parametrize("part", ["test", "train"])
def test_a_fold_without_trials_is_named(scoring, part):
    X, successes, trials, _, _ = grouped()
    last = np.arange(60) >= 40
    successes, trials = np.where(last, 0, successes), np.where(last, 0, trials)
    rows, other = np.flatnonzero(last), np.flatnonzero(~last)
    folds = [(other, other), (other, rows) if part == "test" else (rows, other)]
    model = LogisticRegressionCV(**{**PLAIN, "scoring": scoring}, l1_ratios=(0.0,), cv=folds)
    wanted = "be scored on" if part == "test" else "learn from"
    with pytest.raises(DataError, match=f"Fold 1 has no weight to {wanted}: the weights or trials of its 20 rows are"):
        model.fit(X, successes, trials=trials)
