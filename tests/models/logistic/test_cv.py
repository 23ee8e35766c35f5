"""LogisticRegressionCV gives scikit-learn's answers, and those of fits that are made one by one."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn import linear_model as theirs
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, get_scorer, log_loss, make_scorer
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold
from sklearn.preprocessing import scale

from discrim import LogisticRegression, LogisticRegressionCV, scan
from discrim.errors import ParameterError

PLAIN = {"l1_ratios": (0,), "scoring": "neg_log_loss", "use_legacy_attributes": False}
CS = np.logspace(-3, 1, 5)


def overlapping(n=150, p=5, classes=2, seed=0):
    """Rows whose classes overlap, columns of unequal scale."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    eta = np.column_stack([np.zeros(n), X @ rng.normal(size=(p, classes - 1))])
    y = (eta + rng.gumbel(size=eta.shape)).argmax(axis=1)
    return X * np.logspace(-1, 1, p) + 3.0, y


DATA = {
    "two classes": overlapping(),
    "three classes": overlapping(classes=3),
    "wine": (scale(load_wine().data), np.array(["c", "a", "b"])[load_wine().target]),
    "breast cancer": (scale(load_breast_cancer().data), load_breast_cancer().target),
    "wide": make_classification(60, 100, random_state=0),
}


def close_to_theirs(ours, other, rtol=2e-4):
    assert ours.C_ == other.C_
    assert_allclose(ours.scores_, other.scores_, rtol=rtol, atol=1e-6)
    assert_allclose(ours.coefs_paths_, other.coefs_paths_, rtol=rtol, atol=rtol * np.abs(other.coefs_paths_).max())
    assert_allclose(ours.coef_, other.coef_, rtol=rtol, atol=rtol * np.abs(other.coef_).max())
    assert_allclose(ours.intercept_, other.intercept_, rtol=rtol, atol=rtol)
    assert_array_equal(ours.Cs_, other.Cs_)
    assert_array_equal(ours.l1_ratios_, other.l1_ratios_)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss"])
def test_the_answers_are_those_of_scikit_learn(name, scoring):
    X, y = DATA[name]
    settings = {**PLAIN, "scoring": scoring, "Cs": CS}
    other = theirs.LogisticRegressionCV(solver="newton-cg", tol=1e-9, max_iter=1000, **settings).fit(X, y)
    close_to_theirs(LogisticRegressionCV(**settings).fit(X, y), other)


@pytest.mark.parametrize(
    "extra",
    [
        {"fit_intercept": False},
        {"class_weight": "balanced"},
        {"class_weight": {0: 3.0, 1: 0.5}},
        {"cv": KFold(4, shuffle=True, random_state=1)},
        {"Cs": [1.0, 1e-3, 10.0, 1e-3]},
        {"scoring": "roc_auc"},
        {"scoring": "neg_brier_score"},
        {"refit": False},
        {"refit": False, "scoring": "neg_brier_score"},
    ],
    ids=str,
)
def test_the_answers_are_those_of_scikit_learn_with_every_option(extra):
    X, y = overlapping(seed=1)
    weight = np.random.default_rng(0).uniform(0.2, 3.0, len(y))
    settings = {**PLAIN, "Cs": CS, **extra}
    other = theirs.LogisticRegressionCV(solver="newton-cholesky", tol=1e-10, **settings).fit(X, y, weight)
    ours = LogisticRegressionCV(**settings).fit(X, y, weight)
    close_to_theirs(ours, other)
    assert_allclose(ours.predict_proba(X), other.predict_proba(X), rtol=1e-4)
    assert_allclose(ours.score(X, y, weight), other.score(X, y, sample_weight=weight), rtol=1e-4)


def test_liblinear_penalises_the_intercept_as_it_does_in_scikit_learn():
    X, y = overlapping(seed=2)
    settings = {**PLAIN, "Cs": CS, "solver": "liblinear"}
    other = theirs.LogisticRegressionCV(tol=1e-12, max_iter=10_000, **settings)
    close_to_theirs(LogisticRegressionCV(**settings).fit(X, y), other.fit(X, y))
    # Its last fit forgets the scaling, those of the folds do not.
    scaled = LogisticRegressionCV(**settings, intercept_scaling=2.0).fit(X, y)
    expected = other.set_params(intercept_scaling=2.0).fit(X, y).coefs_paths_
    assert_allclose(scaled.coefs_paths_, expected, rtol=2e-4, atol=1e-5)
    assert_allclose(
        scaled.coef_, LogisticRegression(C=scaled.C_, solver="liblinear", intercept_scaling=2.0).fit(X, y).coef_
    )


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("l1_ratios", ["warn", (0,), np.array([0, 0.5, 1])], ids=str)
@pytest.mark.parametrize("refit", [True, False])
@pytest.mark.parametrize("legacy", [True, False])
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::sklearn.exceptions.ConvergenceWarning")
def test_attributes_have_the_shapes_of_scikit_learn(classes, l1_ratios, refit, legacy):
    X, y = overlapping(classes=classes)
    settings = {**PLAIN, "l1_ratios": l1_ratios, "Cs": [0.1, 1.0], "refit": refit, "use_legacy_attributes": legacy}
    other = theirs.LogisticRegressionCV(solver="saga", max_iter=5, cv=3, **settings).fit(X, y)
    ours = LogisticRegressionCV(cv=3, **settings).fit(X, y)
    for name in ("C_", "l1_ratio_", "Cs_", "l1_ratios_", "n_iter_", "coef_", "intercept_", "coefs_paths_", "scores_"):
        mine, expected = getattr(ours, name), getattr(other, name)
        if isinstance(expected, dict):
            assert list(mine) == list(expected)
            assert all(mine[label].shape == expected[label].shape for label in expected), name
        else:
            assert np.shape(mine) == np.shape(expected), name
            assert np.asarray(mine).dtype.kind == np.asarray(expected).dtype.kind, name


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("l1_ratio", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_fit_of_every_fold_is_the_fit_of_that_fold_alone(classes, l1_ratio, weighted):
    X, y = overlapping(classes=classes)
    weight = np.random.default_rng(1).uniform(0.2, 3.0, len(y)) if weighted else None
    model = LogisticRegressionCV(**{**PLAIN, "l1_ratios": (l1_ratio,)}, Cs=[3.0, 0.02, 0.3], cv=3)
    model.fit(X, y, weight)
    for f, (train, test) in enumerate(StratifiedKFold(3).split(X, y)):
        for c, C in enumerate(model.Cs_):
            part = None if weight is None else weight[train]
            alone = LogisticRegression(C=C, l1_ratio=l1_ratio).fit(X[train], y[train], part)
            theta = np.column_stack([alone.coef_, alone.intercept_])
            assert_allclose(model.coefs_paths_[f, 0, c], theta, rtol=1e-4, atol=1e-5 * np.abs(theta).max())
            held = None if weight is None else weight[test]
            expected = -log_loss(y[test], alone.predict_proba(X[test]), sample_weight=held)
            assert_allclose(model.scores_[f, 0, c], expected, rtol=1e-5)
    best = LogisticRegression(C=model.C_, l1_ratio=l1_ratio).fit(X, y, weight)
    assert_allclose(model.coef_, best.coef_, rtol=1e-5, atol=1e-6)
    assert model.scores_.mean(axis=0)[0].argmax() == model.Cs_.tolist().index(model.C_)


def test_both_c_and_l1_ratio_are_searched_and_agree_with_scikit_learn():
    X, y = overlapping(seed=3)
    X = scale(X)
    settings = {**PLAIN, "l1_ratios": [0.2, 0.9], "Cs": [0.1, 1.0, 10.0], "cv": 3}
    other = theirs.LogisticRegressionCV(solver="saga", tol=1e-7, max_iter=10_000, **settings).fit(X, y)
    ours = LogisticRegressionCV(**settings).fit(X, y)
    close_to_theirs(ours, other, rtol=1e-3)
    assert ours.l1_ratio_ == other.l1_ratio_


@pytest.mark.parametrize("scoring", ["f1_macro", "precision_weighted", "neg_log_loss", "accuracy", "balanced_accuracy"])
def test_scores_are_what_the_scorer_says_of_the_fold(scoring):
    X, y = overlapping(classes=3)
    labels = np.array(["x", "y", "z"])[y]
    model = LogisticRegressionCV(**{**PLAIN, "scoring": scoring}, Cs=[0.1], cv=3).fit(X, labels)
    for f, (train, test) in enumerate(StratifiedKFold(3).split(X, labels)):
        alone = LogisticRegression(C=0.1).fit(X[train], labels[train])
        assert_allclose(model.scores_[f, 0, 0], get_scorer(scoring)(alone, X[test], labels[test]), rtol=1e-5)


def test_a_scorer_of_ones_own_is_asked_in_order_and_decides():
    X, y = overlapping()
    seen = []

    def prefer_the_second(model, rows, labels):
        seen.append((float(np.abs(model.coef_).sum()), len(rows), set(labels)))
        return float(len(seen) % 4 == 2)

    model = LogisticRegressionCV(**{**PLAIN, "scoring": prefer_the_second}, Cs=[0.01, 0.1, 1, 10], cv=3).fit(X, y)
    assert model.C_ == 0.1
    assert len(seen) == 12
    sizes = np.array([size for size, _, _ in seen]).reshape(3, 4)
    assert (np.diff(sizes, axis=1) > 0).all()
    assert sum(n for _, n, _ in seen[::4]) == len(y)


def test_weights_reach_the_scorer():
    X, y = overlapping()
    weight = np.random.default_rng(0).uniform(size=len(y)) ** 4
    plain, scorer = (
        LogisticRegressionCV(**{**PLAIN, "scoring": scoring}).fit(X, y, weight)
        for scoring in ("accuracy", make_scorer(accuracy_score))
    )
    assert_allclose(plain.scores_, scorer.scores_, rtol=1e-12)
    assert not np.allclose(plain.scores_, np.round(plain.scores_ * 30) / 30)


def test_groups_go_to_a_splitter_that_asks_for_them():
    X, y = overlapping()
    groups = np.arange(len(y)) % 7
    with config_context(enable_metadata_routing=True):
        routed = LogisticRegressionCV(**PLAIN, cv=GroupKFold(3)).fit(X, y, groups=groups)
    by_hand = LogisticRegressionCV(**PLAIN, cv=list(GroupKFold(3).split(X, y, groups))).fit(X, y)
    assert_array_equal(routed.scores_, by_hand.scores_)
    assert not np.array_equal(routed.scores_, LogisticRegressionCV(**PLAIN, cv=3).fit(X, y).scores_)
    with pytest.raises(ParameterError, match=r"fit got 'groups'.* only supported if enable_metadata_routing=True"):
        LogisticRegressionCV(**PLAIN, cv=GroupKFold(3)).fit(X, y, groups=groups)


def test_one_standard_error_takes_the_strongest_penalty_that_is_nearly_as_good():
    X, y = overlapping()
    best = LogisticRegressionCV(**PLAIN).fit(X, y)
    simple = LogisticRegressionCV(**PLAIN, selection="one-se").fit(X, y)
    mean, error = best.scores_[:, 0].mean(axis=0), best.scores_[:, 0].std(axis=0, ddof=1) / np.sqrt(5)
    near = mean >= mean.max() - error[mean.argmax()]
    assert simple.C_ == best.Cs_[near].min() < best.C_


def test_without_a_refit_coefficients_are_the_mean_of_the_best_of_each_fold():
    X, y = overlapping(classes=3)
    model = LogisticRegressionCV(**{**PLAIN, "l1_ratios": (0, 1)}, Cs=CS, refit=False).fit(X, y)
    theta, C, l1_ratio = [], [], []
    for f in range(5):
        c, r = np.unravel_index(model.scores_[f].T.argmax(), (5, 2))
        theta.append(model.coefs_paths_[f, r, c])
        C.append(model.Cs_[c])
        l1_ratio.append(model.l1_ratios_[r])
    assert_allclose(model.coef_, np.mean(theta, axis=0)[:, :-1], rtol=1e-12)
    assert_allclose(model.intercept_, np.mean(theta, axis=0)[:, -1], rtol=1e-12)
    assert_allclose([model.C_, model.l1_ratio_], [np.mean(C), np.mean(l1_ratio)], rtol=1e-12)
    assert_allclose(model.decision_function(X), X @ model.coef_.T + model.intercept_, rtol=1e-9)
    with pytest.raises(ParameterError, match=r"refit=False .* no inference"):
        model.summary()


def test_no_penalty_is_one_of_the_penalties():
    X, y = overlapping()
    model = LogisticRegressionCV(**PLAIN, Cs=[np.inf, 1e-4], cv=3).fit(X, y)
    assert np.isinf(model.C_)
    train, _ = next(StratifiedKFold(3).split(X, y))
    alone = LogisticRegression(C=np.inf).fit(X[train], y[train])
    assert_allclose(model.coefs_paths_[0, 0, 0, :, :-1], alone.coef_, rtol=1e-6)
    assert_allclose(model.summary().p_value, LogisticRegression(C=np.inf).fit(X, y).summary().p_value, rtol=1e-6)


@pytest.mark.parametrize("l1_ratios", [(0,), (0.5, 1)], ids=str)
def test_it_does_not_matter_what_the_rows_are_kept_in(l1_ratios, tmp_path):
    X, y = overlapping()
    X = np.round(X, 1)
    settings = {**PLAIN, "l1_ratios": l1_ratios, "Cs": CS}
    expected = LogisticRegressionCV(**settings).fit(X, y)
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame.assign(y=y).to_csv(tmp_path / "rows.csv", index=False)
    ways = [(sparse.csr_array(X), y), (frame, y), (np.asfortranarray(X), list(y)), (X.tolist(), y)]
    for rows, labels in [*ways, (scan(tmp_path / "rows.csv", target="y"), None)]:
        model = LogisticRegressionCV(**settings).fit(rows, labels)
        assert_allclose(model.scores_, expected.scores_, rtol=1e-5)
        assert_allclose(model.coef_, expected.coef_, rtol=1e-4, atol=1e-5)
    named = LogisticRegressionCV(**settings).fit(frame, y)
    assert named.feature_names_in_.tolist() == list("abcde")


def test_categories_are_expanded_before_the_folds_are_drawn():
    X, y = overlapping()
    kind = np.array(["u", "v", "w"])[np.arange(len(y)) % 3]
    frame = pd.DataFrame({"a": X[:, 0], "kind": pd.Categorical(kind)})
    by_hand = np.column_stack([X[:, 0], kind == "v", kind == "w"]).astype(float)
    for scoring in ("neg_log_loss", "roc_auc"):
        model = LogisticRegressionCV(**{**PLAIN, "scoring": scoring}).fit(frame, y)
        expected = LogisticRegressionCV(**{**PLAIN, "scoring": scoring}).fit(by_hand, y)
        assert_allclose(model.scores_, expected.scores_, rtol=1e-9)
        assert_allclose(model.score(frame, y), expected.score(by_hand, y), rtol=1e-9)
    assert model.summary().names == ["(Intercept)", "a", "kind[v]", "kind[w]"]


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5])
def test_a_class_that_is_missing_from_a_fold_keeps_its_place(l1_ratio):
    X, y = load_iris(return_X_y=True)
    model = LogisticRegressionCV(**{**PLAIN, "l1_ratios": (l1_ratio,), "scoring": "accuracy"}, cv=KFold(3), Cs=[0.1])
    model.fit(X, y)
    assert_array_equal(model.scores_, 0.0)
    assert model.coefs_paths_.shape == (3, 1, 1, 3, 5)
    assert model.coefs_paths_[0, 0, 0, 0, -1] < model.coefs_paths_[0, 0, 0, 1:, -1].min()


def test_inference_is_that_of_the_plain_model_with_the_chosen_penalty():
    X, y = overlapping(classes=3)
    model = LogisticRegressionCV(**PLAIN, reference=1).fit(X, y)
    plain = LogisticRegression(C=model.C_, reference=1).fit(X, y)
    for name in ("coef", "std_error", "p_value"):
        assert_allclose(getattr(model.summary(), name), getattr(plain.summary(), name), rtol=1e-5)
    assert_allclose(model.vcov, plain.vcov, rtol=1e-5, atol=1e-9)
    assert_allclose(model.loo_.log_loss, plain.loo_.log_loss, rtol=1e-6)
    again = pickle.loads(pickle.dumps(model))
    assert_allclose(again.summary().std_error, plain.summary().std_error, rtol=1e-5)


def test_terms_are_chosen_for_the_fit_without_a_penalty():
    X, y = overlapping()
    chosen = LogisticRegressionCV(**PLAIN, Cs=[np.inf]).fit(X, y).step()
    expected = LogisticRegression(C=np.inf).fit(X, y).step()
    assert_allclose(chosen.coef_, expected.coef_, rtol=1e-6)


def test_a_copy_has_the_same_parameters_and_a_second_fit_the_same_answer():
    X, y = overlapping()
    model = LogisticRegressionCV(**PLAIN, Cs=CS)
    copy = clone(model)
    assert str(copy.get_params()) == str(model.get_params())
    assert_array_equal(copy.fit(X, y).fit(X, y).coef_, model.fit(X, y).coef_)


def test_defaults_warn_as_in_scikit_learn_and_mean_the_same():
    X, y = overlapping()
    with pytest.warns(FutureWarning) as ours:
        model = LogisticRegressionCV().fit(X, y)
    with pytest.warns(FutureWarning) as others:
        expected = theirs.LogisticRegressionCV(solver="newton-cholesky").fit(X, y)
    assert len(ours) == len(others) == 3
    assert all(warning.filename == __file__ for warning in ours)
    assert_array_equal(model.C_, expected.C_)
    assert_array_equal(model.scores_[1], expected.scores_[1])


@pytest.mark.filterwarnings("ignore:'penalty' was deprecated")
@pytest.mark.parametrize(("penalty", "l1_ratios"), [("l1", (1,)), ("l2", (0,))])
def test_the_deprecated_penalty_is_an_l1_ratio(penalty, l1_ratios):
    X, y = overlapping()
    settings = {**PLAIN, "Cs": CS}
    with pytest.warns(UserWarning, match=f"only used when penalty is 'elasticnet'. Got \\(penalty={penalty}\\)"):
        old = LogisticRegressionCV(**{**settings, "l1_ratios": (0.5,)}, penalty=penalty).fit(X, y)
    new = LogisticRegressionCV(**{**settings, "l1_ratios": l1_ratios}).fit(X, y)
    assert_array_equal(old.scores_, new.scores_)


def test_fits_that_do_not_converge_are_counted():
    X, y = overlapping()
    with pytest.warns(ConvergenceWarning) as told:
        LogisticRegressionCV(**PLAIN, Cs=CS, max_iter=1).fit(X, y)
    assert "25 of the 25 fits of folds failed to converge" in str(told[0].message)
    assert "newton failed to converge after 1 steps" in str(told[1].message)
    assert all("max_iter is 1" in str(warning.message) and warning.filename == __file__ for warning in told)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LogisticRegressionCV(**PLAIN, Cs=CS).fit(X, y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"Cs": [1.0, -1.0]}, "'Cs' parameter is .* positive numbers"),
        ({"Cs": 0}, "'Cs' parameter is 0; it must be an integer of at least 1"),
        ({"l1_ratios": [0.5, 1.5]}, "'l1_ratios' parameter is .* from 0 to 1"),
        ({"scoring": "nonsense"}, "'scoring' parameter is 'nonsense'; it must be a callable, None or one of the names"),
        ({"cv": 400}, "'cv' parameter cannot split these 150 rows"),
        ({"cv": "loo"}, "'cv' parameter cannot split these 150 rows"),
        ({"l1_ratios": (1,), "solver": "lbfgs"}, "Solver lbfgs supports only 'l2' or None penalties"),
        ({"l1_ratios": (0.5,), "solver": "liblinear"}, "Only 'saga' solver supports elasticnet penalty"),
        ({"selection": "max"}, "'selection' parameter is 'max'; it must be one of 'min', 'one-se'"),
        ({"reference": 7}, "'reference' parameter is 7"),
    ],
    ids=str,
)
def test_a_parameter_that_cannot_be_used_is_named(settings, message):
    X, y = overlapping()
    with pytest.raises(ParameterError, match=message):
        LogisticRegressionCV(**{**PLAIN, **settings}).fit(X, y)


def test_missing_values_are_named_before_any_fit():
    X, y = overlapping()
    X[7, 3] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN: column 'x3' has 1 NaN"):
        LogisticRegressionCV(**PLAIN).fit(X, y)
