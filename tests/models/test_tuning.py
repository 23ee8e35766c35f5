"""Parameters chosen by 'cv' or 'loo' are those that a loop of refits over the grid would choose."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, ShuffleSplit, StratifiedKFold

from discrim import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
    scan,
)
from discrim.errors import DataError, ParameterError

LDA, QDA, RDA = LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, RegularizedDiscriminantAnalysis
GRID = [0.0, 0.3, 0.7, 1.0]
PRIORS = [0.2, 0.5, 0.3]
FOLDS = StratifiedKFold(4, shuffle=True, random_state=0)


@pytest.fixture(scope="module")
def small():
    rng = np.random.default_rng(7)
    y = np.repeat([0, 1, 2], [20, 15, 13])
    x = rng.normal(size=(48, 3)) @ rng.normal(size=(3, 3))
    x[y == 1] *= 2.0
    x[y == 2] += 1.0
    order = rng.permutation(48)
    return x[order], y[order], rng.uniform(0.2, 3.0, 48)


@pytest.fixture(scope="module")
def wide():
    rng = np.random.default_rng(9)
    y = np.arange(21) % 3
    x = rng.normal(size=(21, 50)) * rng.uniform(0.2, 2.0, 50)
    x[:, :4] += y[:, None]
    return x, y


def brute_force(model, x, y, cv, sample_weight=None):
    """Error and log loss of every fold and the weight of its rows: clone, fit, predict_proba."""
    splitter = LeaveOneOut() if cv == "loo" else StratifiedKFold(cv) if isinstance(cv, int) else cv
    weight = np.ones(len(y)) if sample_weight is None else sample_weight
    error, loss, mass = [], [], []
    for train, test in splitter.split(x, y):
        given = {} if sample_weight is None else {"sample_weight": weight[train]}
        fitted = clone(model).fit(x[train], y[train], **given)
        w = weight[test]
        logs = fitted.predict_log_proba(x[test])[np.arange(len(test)), np.searchsorted(fitted.classes_, y[test])]
        error.append(w @ (fitted.predict(x[test]) != y[test]) / w.sum())
        loss.append(-w @ logs / w.sum())
        mass.append(w.sum())
    return np.array(error), np.array(loss), np.array(mass)


def surface(models, x, y, cv, sample_weight=None):
    """Mean error, its standard error and mean log loss of each model."""
    rows = []
    for model in models:
        error, loss, mass = brute_force(model, x, y, cv, sample_weight)
        share = mass / mass.sum()
        mean = share @ error
        rows.append((mean, np.sqrt(share @ (error - mean) ** 2 / (len(error) - 1)), share @ loss))
    return [np.array(column) for column in zip(*rows, strict=True)]


def assert_surface(results, expected, shape):
    for name, values in zip(("mean_error", "std_error", "mean_log_loss"), expected, strict=True):
        np.testing.assert_allclose(results[name], values.reshape(shape), rtol=1e-9, atol=1e-9, err_msg=name)


def least(mean, loss):
    """Places of the smallest error; among equals, of the smallest log loss."""
    ties = np.flatnonzero(mean <= mean.min() + 1e-12)
    return ties[np.argmin(loss[ties])]


@pytest.mark.parametrize("parameters", [{}, {"priors": PRIORS, "normalization": "unbiased"}], ids=str)
@pytest.mark.parametrize("target", ["identity", "diagonal"])
@pytest.mark.parametrize("cv", [3, FOLDS, KFold(5)], ids=["3", "StratifiedKFold", "KFold"])
def test_the_cross_validated_surface_equals_refitting(cv, target, parameters, small):
    x, y, _ = small
    model = RDA("cv", "cv", alphas=GRID, gammas=GRID, cv=cv, target=target, **parameters).fit(x, y)
    models = [RDA(a, g, target=target, **parameters) for a in GRID for g in GRID]
    mean, std_error, loss = surface(models, x, y, cv)
    assert_surface(model.cv_results_, (mean, std_error, loss), (4, 4))
    best = models[least(mean, loss)]
    assert (model.alpha_, model.gamma_) == (best.alpha, best.gamma)
    np.testing.assert_allclose(model.predict_proba(x), best.fit(x, y).predict_proba(x), atol=1e-12)


def test_weights_count_in_training_and_in_the_losses(small):
    x, y, weight = small
    model = RDA("cv", "cv", alphas=GRID, gammas=GRID, cv=FOLDS).fit(x, y, sample_weight=weight)
    models = [RDA(a, g) for a in GRID for g in GRID]
    mean, std_error, loss = surface(models, x, y, FOLDS, weight)
    assert_surface(model.cv_results_, (mean, std_error, loss), (4, 4))
    best = models[least(mean, loss)]
    assert (model.alpha_, model.gamma_) == (best.alpha, best.gamma)


@pytest.mark.parametrize("parameters", [{}, {"priors": PRIORS, "normalization": "unbiased"}], ids=str)
def test_the_leave_one_out_surface_equals_refitting(parameters, small):
    x, y, _ = small
    model = RDA("loo", "loo", alphas=GRID, gammas=GRID, **parameters).fit(x, y)
    models = [RDA(a, g, **parameters) for a in GRID for g in GRID]
    mean, std_error, loss = surface(models, x, y, "loo")
    assert_surface(model.cv_results_, (mean, std_error, loss), (4, 4))
    best = models[least(mean, loss)]
    assert (model.alpha_, model.gamma_) == (best.alpha, best.gamma)


@pytest.mark.parametrize("how", ["cv", "loo"])
def test_one_parameter_is_chosen_where_the_other_is_given(how, small):
    x, y, _ = small
    model = RDA(0.4, how, gammas=GRID, cv=4).fit(x, y)
    assert model.cv_results_["mean_error"].shape == (1, 4)
    assert model.alpha_ == 0.4
    mean, _, loss = surface([RDA(0.4, g) for g in GRID], x, y, 4 if how == "cv" else "loo")
    assert model.gamma_ == GRID[least(mean, loss)]
    with pytest.raises(DataError, match="both by 'cv' or both by 'loo'"):
        RDA("cv", "loo").fit(x, y)


@pytest.mark.parametrize("parameters", [{}, {"priors": PRIORS, "normalization": "unbiased"}], ids=str)
@pytest.mark.parametrize("how", ["cv", "loo"])
@pytest.mark.parametrize("kind", [LDA, QDA])
def test_shrinkage_is_the_one_that_refitting_chooses(kind, how, parameters, small):
    x, y, _ = small
    model = kind(shrinkage=how, cv=FOLDS, **parameters).fit(x, y)
    tried = 1.0 - model.cv_results_["gammas"]
    models = [kind(shrinkage=float(s), **parameters) for s in tried]
    mean, std_error, loss = surface(models, x, y, FOLDS if how == "cv" else "loo")
    assert_surface(model.cv_results_, (mean, std_error, loss), (1, 11))
    assert model.shrinkage_ == pytest.approx(tried[least(mean, loss)])
    chosen = kind(shrinkage=float(model.shrinkage_), **parameters).fit(x, y)
    np.testing.assert_allclose(model.predict_proba(x), chosen.predict_proba(x), atol=1e-12)


@pytest.mark.parametrize("how", ["cv", "loo"])
def test_one_standard_error_takes_the_most_regularised_setting_within_it(how, small):
    x, y, _ = small
    grid = {"alphas": np.linspace(0, 1, 6), "gammas": np.linspace(0, 1, 6), "cv": FOLDS}
    model = RDA(how, how, selection="one-se", **grid).fit(x, y)
    settings = [(a, g) for a in model.cv_results_["alphas"] for g in model.cv_results_["gammas"]]
    mean, std_error, loss = surface([RDA(a, g) for a, g in settings], x, y, FOLDS if how == "cv" else "loo")
    bound = mean.min() + std_error[least(mean, loss)]
    within = [setting for setting, error in zip(settings, mean, strict=True) if error <= bound + 1e-12]
    # The most regularised one: the smallest alpha, and of these the smallest gamma.
    assert (model.alpha_, model.gamma_) == min(within)
    plain = RDA(how, how, **grid).fit(x, y)
    assert (model.alpha_, model.gamma_) <= (plain.alpha_, plain.gamma_)


def test_one_standard_error_shrinks_lda_at_least_as_much(small):
    x, y, _ = small
    plain = LDA(shrinkage="cv", cv=FOLDS).fit(x, y)
    model = LDA(shrinkage="cv", cv=FOLDS, selection="one-se").fit(x, y)
    mean, std_error = (plain.cv_results_[name][0] for name in ("mean_error", "std_error"))
    best = int(np.flatnonzero(np.isclose(1.0 - plain.cv_results_["gammas"], plain.shrinkage_))[0])
    within = np.flatnonzero(mean <= mean[best] + std_error[best] + 1e-12)
    assert model.shrinkage_ == pytest.approx((1.0 - plain.cv_results_["gammas"][within]).max())
    assert model.shrinkage_ >= plain.shrinkage_


@pytest.mark.parametrize("how", ["cv", "loo"])
@pytest.mark.parametrize("parameters", [{}, {"priors": PRIORS, "normalization": "unbiased"}], ids=str)
def test_with_more_columns_than_rows_gamma_one_is_infeasible_and_never_chosen(parameters, how, wide):
    x, y = wide
    model = RDA(how, how, alphas=GRID, gammas=GRID, cv=4, **parameters).fit(x, y)
    for name in ("mean_error", "std_error", "mean_log_loss"):
        np.testing.assert_array_equal(np.isnan(model.cv_results_[name]), np.tile([False] * 3 + [True], (4, 1)))
    models = [RDA(a, g, **parameters) for a in GRID for g in GRID[:-1]]
    mean, std_error, loss = surface(models, x, y, 4 if how == "cv" else "loo")
    feasible = {name: values[:, :-1] for name, values in model.cv_results_.items() if np.ndim(values) == 2}
    assert_surface(feasible, (mean, std_error, loss), (4, 3))
    best = models[least(mean, loss)]
    assert (model.alpha_, model.gamma_) == (best.alpha, best.gamma)


@pytest.mark.parametrize("how", ["cv", "loo"])
@pytest.mark.parametrize("kind", [LDA, QDA])
def test_shrinkage_is_chosen_with_more_columns_than_rows(kind, how, wide):
    x, y = wide
    model = kind(shrinkage=how, cv=4).fit(x, y)
    tried = (1.0 - model.cv_results_["gammas"])[:-1]
    mean, _, loss = surface([kind(shrinkage=float(s)) for s in tried], x, y, 4 if how == "cv" else "loo")
    np.testing.assert_allclose(model.cv_results_["mean_error"][0, :-1], mean, atol=1e-12)
    np.testing.assert_allclose(model.cv_results_["mean_log_loss"][0, :-1], loss, rtol=1e-8, atol=1e-8)
    assert np.isnan(model.cv_results_["mean_error"][0, -1])
    assert model.shrinkage_ == pytest.approx(tried[least(mean, loss)])


def test_a_training_part_with_fewer_rows_than_columns_is_infeasible_too(wide):
    x, y = wide
    model = RDA(0.5, "cv", gammas=GRID, cv=3).fit(x[:, :16], y)
    np.testing.assert_array_equal(np.isnan(model.cv_results_["mean_error"][0]), [False, False, False, True])
    assert model.gamma_ < 1.0


def test_no_feasible_setting_is_said(wide):
    x, y = wide
    with pytest.raises(ParameterError, match="Add values of gamma below 1"):
        RDA(1.0, "cv", gammas=[1.0], cv=3).fit(x, y)


def test_the_diagonal_target_cannot_be_tuned_on_wide_rows(wide):
    x, y = wide
    with pytest.raises(ParameterError, match="only the target 'identity' can be tuned"):
        RDA("cv", "cv", target="diagonal").fit(x, y)


def test_leave_one_out_refuses_what_it_has_no_closed_form_for(small):
    x, y, weight = small
    for model in (RDA("loo", "loo"), LDA(shrinkage="loo"), QDA(shrinkage="loo")):
        with pytest.raises(ParameterError, match=r"'loo' needs rows without weights.*use 'cv'"):
            model.fit(x, y, sample_weight=weight)
        with pytest.raises(ParameterError, match="the target 'identity'; use 'cv'"):
            clone(model).set_params(target="diagonal").fit(x, y)


def test_a_stream_that_is_read_once_cannot_be_tuned_on(small):
    x, y, _ = small
    table = pl.DataFrame(x).with_columns(y=pl.Series(y)).to_arrow()
    for model in (RDA("cv", "cv"), LDA(shrinkage="loo"), QDA(shrinkage="cv")):
        with pytest.raises(DataError, match=r"read only once.*Give a number instead, or a table or a file"):
            model.fit(scan(table.to_reader(), target="y"))
    chosen = RDA("cv", "cv", cv=4).fit(scan(table, target="y", batch_rows=7))
    expected = RDA("cv", "cv", cv=4).fit(x, y)
    assert (chosen.alpha_, chosen.gamma_) == (expected.alpha_, expected.gamma_)


def test_a_cv_that_cannot_tune_is_refused(small):
    x, y, _ = small
    half = [(np.arange(24, 47), np.arange(24)), (np.arange(24), np.arange(24, 48))]
    for cv, message in [
        ("ten", "a number of folds, 'loo' or a splitter"),
        (ShuffleSplit(4, random_state=0), "holds some rows out twice"),
        (GroupKFold(3), "cannot split these 48 rows"),
        (1, "cannot split these 48 rows"),
        (half, "out of both training and test part"),
    ]:
        with pytest.raises(ParameterError, match=message):
            RDA("cv", "cv", cv=cv).fit(x, y)


def test_leave_one_out_as_folds_is_leave_one_out(small):
    x, y, _ = small
    by_folds = RDA("cv", "cv", alphas=GRID, gammas=GRID, cv=LeaveOneOut()).fit(x, y).cv_results_
    closed = RDA("loo", "loo", alphas=GRID, gammas=GRID).fit(x, y).cv_results_
    for name in ("mean_error", "std_error", "mean_log_loss"):
        np.testing.assert_allclose(by_folds[name], closed[name], rtol=1e-9, atol=1e-12)


def test_nearly_equal_columns_do_not_spoil_the_shrunk_settings(small):
    x, y, _ = small
    x = np.column_stack([x, x[:, 0] + 1e-9 * np.random.default_rng(0).normal(size=len(y))])
    model = RDA("cv", "cv", alphas=GRID, gammas=GRID, cv=FOLDS).fit(x, y)
    models = [RDA(a, g) for a in GRID for g in GRID[:-1]]
    mean, std_error, loss = surface(models, x, y, FOLDS)
    feasible = {name: values[:, :-1] for name, values in model.cv_results_.items() if np.ndim(values) == 2}
    assert_surface(feasible, (mean, std_error, loss), (4, 3))


def test_a_class_missing_from_a_training_part_costs_its_rows(small):
    x, y, _ = small
    y = np.where(np.arange(48) == 0, 3, y)
    alphas, gammas = [0.0, 0.4], [0.3, 0.8]
    model = RDA("cv", "cv", alphas=alphas, gammas=gammas, cv=KFold(6)).fit(x, y)
    for i, j in np.ndindex(2, 2):
        wrong = np.empty(48, dtype=bool)
        for train, test in KFold(6).split(x):
            fitted = RDA(alphas[i], gammas[j]).fit(x[train], y[train])
            wrong[test] = fitted.predict(x[test]) != y[test]
        assert wrong[0]
        assert model.cv_results_["mean_error"][i, j] == pytest.approx(wrong.mean())
    assert np.isfinite(model.cv_results_["mean_log_loss"]).all()


@pytest.mark.parametrize("cv", [[0.2, 0.2], 2.5, object()], ids=["numbers", "fraction", "object"])
def test_a_cv_that_is_no_splitter_gets_a_sentence(cv):
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 2
    with pytest.raises(ParameterError, match="The 'cv' parameter"):
        LinearDiscriminantAnalysis(shrinkage="cv", cv=cv).fit(X, y)
