"""The path of penalties: its grid, its laws, hostile data, and every container."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from discrim.errors import DataError, DiscrimError, ParameterError
from discrim.families.logistic import elastic_net
from discrim.models.logistic.path import logistic_path
from discrim.sources import scan

pytestmark = pytest.mark.every_version


def sample(n=250, p=8, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * np.geomspace(0.1, 10, p) + np.arange(p)
    beta = rng.normal(size=(classes, p)) * (np.arange(p) < 4)
    y = ((X - X.mean(axis=0)) / X.std(axis=0) @ beta.T + rng.gumbel(size=(n, classes))).argmax(axis=1)
    return X, y


WIDE = {"n": 40, "p": 90}


def worst(path, X, y, l1_ratio, i):
    """The largest violation of the conditions of optimality at one lambda, in deviations of the columns."""
    b = np.atleast_2d(path.coef[i])
    eta = np.atleast_1d(path.intercept[i]) + X @ b.T
    eta = np.column_stack([np.zeros(len(y)), eta]) if len(b) == 1 else eta
    mu = np.exp(eta - eta.max(axis=1, keepdims=True))
    residual = mu / mu.sum(axis=1, keepdims=True) - (y[:, None] == path.classes_)
    residual = residual[:, -len(b) :] if len(b) == 1 else residual
    scale, lam = X.std(axis=0), path.lambdas[i]
    slope = residual.T @ X / scale / len(y) + lam * (1 - l1_ratio) * b * scale
    limit = lam * l1_ratio
    return np.where(b != 0, np.abs(slope + limit * np.sign(b)), np.maximum(np.abs(slope) - limit, 0.0)).max()


@pytest.mark.parametrize("shape", [{}, WIDE], ids=["long", "wide"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
def test_every_point_of_the_path_is_optimal_and_explains_more_than_the_one_before(shape, classes, l1_ratio):
    X, y = sample(classes=classes, **shape)
    path = logistic_path(X, y, l1_ratio, n_lambdas=40)
    assert path.converged.all()
    assert max(worst(path, X, y, l1_ratio, i) for i in range(len(path.lambdas))) < 1e-5
    assert (np.diff(path.dev_ratio) > -1e-9).all()


@pytest.mark.parametrize("shape", [{}, WIDE], ids=["long", "wide"])
def test_the_largest_lambda_is_the_least_without_slopes(shape):
    X, y = sample(**shape)
    path = logistic_path(X, y, n_lambdas=30)
    assert path.df[0] == 0
    assert path.dev_ratio[0] == pytest.approx(0.0, abs=1e-9)
    assert logistic_path(X, y, lambdas=[0.999 * path.lambdas[0]]).df[0] == 1
    ratio = 1e-4 if len(y) > X.shape[1] else 1e-2
    assert_allclose(path.lambdas, path.lambdas[0] * ratio ** (np.arange(30) / 29)[: len(path.lambdas)], rtol=1e-12)
    assert path.null_deviance == pytest.approx(-2 * sum(np.log(np.mean(y == k)) * np.sum(y == k) for k in (0, 1)))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.3])
@pytest.mark.parametrize("options", [{}, {"standardize": False}, {"fit_intercept": False}, {"offset": True}], ids=str)
@pytest.mark.parametrize("shape", [(200, 8), (3000, 5), (60, 90)], ids=str)
def test_no_slope_slips_through_at_the_largest_lambda(shape, options, l1_ratio, classes):
    for seed in (0, 3):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=shape) * 10.0 ** rng.integers(-3, 4, shape[1]) + 100 * (seed % 2) * rng.normal(
            size=shape[1]
        )
        weight = rng.uniform(0.1, 3.0, shape[0]) if seed > 1 else None
        y, given = rng.integers(0, classes, shape[0]), dict(options)
        if given.pop("offset", False):
            y, given["offset"] = np.minimum(y, 1), 2 * rng.normal(size=shape[0])
        for form in (X, X.astype(np.float32), sparse.csr_array(X * (rng.random(shape) < 0.3))):
            path = logistic_path(form, y, l1_ratio, n_lambdas=2, sample_weight=weight, **given)
            assert path.df[0] == 0
            assert logistic_path(form, y, l1_ratio, lambdas=[0.99 * path.lambdas[0]], sample_weight=weight, **given).df[
                0
            ]


def test_a_raw_path_is_the_family_of_scikit_learn_fits():
    X, y = sample(n=120, p=4)
    X = X / X.std(axis=0)
    path = logistic_path(X, y, 0.5, lambdas=[0.1, 0.02], standardize=False)
    for i, lam in enumerate(path.lambdas):
        peer = LogisticRegression(C=1 / (lam * 120), l1_ratio=0.5, solver="saga", tol=1e-12, max_iter=100_000).fit(X, y)
        assert_allclose(path.coef[i], peer.coef_[0], atol=2e-6)
        assert_allclose(path.intercept[i], peer.intercept_[0], atol=2e-5)


def test_lambdas_are_solved_from_the_largest_down_all_of_them():
    X, y = sample()
    path = logistic_path(X, y, lambdas=[1e-6, 1e-2, 1e-7, 1e-1])
    assert_array_equal(path.lambdas, [1e-1, 1e-2, 1e-6, 1e-7])


def test_a_grid_of_ones_own_ends_as_glmnets_does_and_goes_on_where_told():
    X, y = sample()
    path, whole = logistic_path(X, y), logistic_path(X, y, early_stop=False)
    gains = np.diff(path.dev_ratio)
    assert len(path.lambdas) < len(whole.lambdas) == 100
    assert gains[-1] < 1e-5 <= gains[4:-1].min()


def test_weights_that_are_whole_numbers_stand_for_repeated_rows():
    X, y = sample(n=80)
    times = np.arange(80) % 3
    weighted = logistic_path(X, y, sample_weight=times.astype(float), n_lambdas=15)
    repeated = logistic_path(np.repeat(X, times, axis=0), np.repeat(y, times), n_lambdas=15)
    assert_allclose(weighted.lambdas, repeated.lambdas, rtol=1e-10)
    assert_allclose(weighted.coef, repeated.coef, atol=1e-6)


def test_rows_of_weight_zero_count_for_nothing():
    X, y = sample()
    weight = np.ones(len(y))
    weight[:40] = 0.0
    X[:40] *= 1e6
    assert_allclose(
        logistic_path(X, y, sample_weight=weight, n_lambdas=10).coef,
        logistic_path(X[40:], y[40:], n_lambdas=10).coef,
        atol=1e-7,
    )


def test_an_offset_that_is_a_multiple_of_a_free_column_moves_its_slope_only():
    X, y = sample(p=3)
    plain = logistic_path(X, y, lambdas=[0.0])
    shifted = logistic_path(X, y, lambdas=[0.0], offset=0.7 * X[:, 1] - 2.0)
    assert_allclose(shifted.coef[0] - plain.coef[0], [0.0, -0.7, 0.0], atol=1e-6)
    assert shifted.intercept[0] - plain.intercept[0] == pytest.approx(2.0, abs=1e-5)


def test_a_scan_a_frame_a_sparse_matrix_and_floats_of_half_the_size_give_the_same_path(tmp_path):
    X, y = sample()
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(8)])
    frame.assign(y=y).to_csv(tmp_path / "rows.csv", index=False)
    expected = logistic_path(X, y, n_lambdas=20)
    scanned = logistic_path(scan(tmp_path / "rows.csv", target="y", batch_rows=64), n_lambdas=20)
    for found in (scanned, logistic_path(frame, y, n_lambdas=20), logistic_path(sparse.csc_array(X), y, n_lambdas=20)):
        assert_allclose(found.lambdas, expected.lambdas, rtol=1e-9)
        assert_allclose(found.coef * X.std(axis=0), expected.coef * X.std(axis=0), atol=1e-6)
    assert scanned.n_passes < 60
    single = logistic_path(X.astype(np.float32), y, n_lambdas=20)
    assert_allclose(single.coef * X.std(axis=0), expected.coef * X.std(axis=0), atol=1e-4)


def test_the_scaling_and_the_place_of_columns_do_not_matter():
    X, y = sample()
    scale, shift = np.geomspace(1e-8, 1e8, 8), np.linspace(-1e4, 1e4, 8)
    plain = logistic_path(X, y, n_lambdas=20)
    moved = logistic_path((X + shift) * scale, y, n_lambdas=20)
    assert_allclose(moved.coef * scale * X.std(axis=0), plain.coef * X.std(axis=0), atol=1e-6)


@pytest.mark.parametrize("shape", [{}, WIDE], ids=["long", "wide"])
def test_a_constant_column_has_no_slope_and_twins_share_theirs(shape):
    X, y = sample(**shape)
    X[:, 3] = 7.25
    expected = logistic_path(np.delete(X, 3, axis=1), y, n_lambdas=20)
    found = logistic_path(X, y, n_lambdas=20)
    assert (found.coef[:, 3] == 0).all()
    assert_allclose(np.delete(found.coef, 3, axis=1), expected.coef, atol=1e-5)
    twins = logistic_path(np.hstack([X, X]), y, lambdas=expected.lambdas)
    p = X.shape[1]
    assert_allclose(twins.dev_ratio, expected.dev_ratio, atol=1e-7)
    assert_allclose((twins.coef[:, :p] + twins.coef[:, p:])[:, :3], found.coef[:, :3], atol=1e-4)


@pytest.mark.parametrize("shape", [{}, WIDE], ids=["long", "wide"])
def test_classes_that_can_be_separated_give_finite_coefficients(shape):
    X, _ = sample(**shape)
    y = (X[:, 0] > np.median(X[:, 0])).astype(int)
    path = logistic_path(X, y)
    assert np.isfinite(path.coef).all()
    assert path.dev_ratio[-1] > 0.98
    assert max(worst(path, X, y, 1.0, i) for i in range(0, len(path.lambdas), 9)) < 1e-5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.ones(250)}, "only one class: '1.0'"),
        ({"sample_weight": (np.arange(250) < 0) * 1.0}, "zero in every row"),
        ({"offset": np.ones(3)}, r"'offset' parameter has the shape \(3,\); it must be 250 finite numbers, one a row"),
        ({"offset": np.full(250, np.nan)}, "'offset' parameter must be finite; 250 entries are NaN"),
        ({"y": None}, "requires y"),
        ({"y": np.arange(250) % 3, "offset": np.ones(250)}, "An offset is for two classes; y has 3"),
        ({"cv": np.arange(250) // 200, "y": np.arange(250) // 200}, "Fold 0 holds out every row of '0'"),
    ],
)
def test_data_that_cannot_be_used_are_refused_in_a_sentence(change, message):
    X, y = sample()
    with pytest.raises(DiscrimError, match=message):
        logistic_path(X, **{"y": y, **change})


def test_missing_values_are_told_by_their_columns():
    X, y = sample()
    X[[3, 5], 2] = np.nan
    with pytest.raises(DataError, match="column 'x2' has 2 NaN"):
        logistic_path(X, y)
    with pytest.raises(DataError, match="column 'x2' has 2 NaN"):
        logistic_path(X[:6], np.arange(6) % 2)


def test_a_class_whose_rows_all_weigh_nothing_is_named():
    X, y = sample()
    with pytest.raises(DataError, match="All rows of '1' have the weight zero"):
        logistic_path(X, y, sample_weight=(y == 0).astype(float))


@pytest.mark.parametrize(
    "bad",
    [{"l1_ratio": 1.5}, {"lambdas": [-1.0]}, {"n_lambdas": 0}, {"lambda_min_ratio": 2.0}, {"cv": "all"}, {"gap": 0.0}],
)
def test_a_parameter_out_of_range_is_named(bad):
    X, y = sample()
    with pytest.raises(ParameterError, match=f"'{next(iter(bad))}' parameter"):
        logistic_path(X, y, **bad)


def test_an_unknown_argument_is_named():
    with pytest.raises(TypeError, match="unexpected argument 'alpha'"):
        logistic_path(*sample(), alpha=1.0)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("shape", [{}, WIDE], ids=["long", "wide"])
def test_the_error_of_folds_is_that_of_paths_without_them(classes, shape):
    X, y = sample(classes=classes, **shape)
    fold = np.arange(len(y)) % 4
    path = logistic_path(X, y, n_lambdas=12, cv=fold)
    parts, sizes = [], []
    for f in range(4):
        left = fold == f
        refit = logistic_path(X[~left], y[~left], lambdas=path.lambdas)
        own = np.stack(
            [refit.predict_proba(X[left], i)[np.arange(left.sum()), y[left]] for i in range(len(path.lambdas))]
        )
        parts.append(-2 * np.log(np.clip(own, 1e-5, 1 - 1e-5)).mean(axis=1))
        sizes.append(left.sum())
    mean = np.average(parts, axis=0, weights=sizes)
    error = np.sqrt(np.average((parts - mean) ** 2, axis=0, weights=sizes) / 3)
    assert_allclose(path.cv_mean, mean, rtol=1e-5)
    assert_allclose(path.cv_se, error, rtol=1e-4)
    best = int(np.argmin(mean))
    assert path.lambda_min_ == path.lambdas[best]
    assert path.lambda_1se_ == path.lambdas[np.argmax(mean <= mean[best] + error[best])]


def test_a_number_of_folds_a_splitter_and_the_folds_themselves_are_the_same():
    X, y = sample()
    splitter = StratifiedKFold(5)
    fold = np.empty(len(y), dtype=int)
    for f, (_, test) in enumerate(splitter.split(X, y)):
        fold[test] = f
    pairs = list(splitter.split(X, y))
    paths = [logistic_path(X, y, n_lambdas=10, cv=cv) for cv in (5, splitter, fold, pairs)]
    for path in paths[1:]:
        assert_array_equal(path.cv_mean, paths[0].cv_mean)
    assert_array_equal(paths[0].folds, fold)


def test_folds_do_not_depend_on_the_number_of_threads(monkeypatch):
    X, y = sample()
    expected = logistic_path(X, y, n_lambdas=10, cv=4).cv_mean
    from discrim import parallel

    monkeypatch.setattr(parallel, "thread_count", lambda: 1)
    assert_array_equal(logistic_path(X, y, n_lambdas=10, cv=4).cv_mean, expected)


def test_probabilities_are_those_of_the_coefficients():
    X, y = sample(classes=3)
    path = logistic_path(X, np.array(["a", "b", "c"])[y], n_lambdas=10, cv=3)
    eta = path.intercept[4] + X @ path.coef[4].T
    expected = np.exp(eta) / np.exp(eta).sum(axis=1, keepdims=True)
    for at in (4, float(path.lambdas[4]), 4 - len(path.lambdas)):
        assert_allclose(path.predict_proba(X, at), expected, rtol=1e-9)
    assert set(path.predict(X, "min")) <= {"a", "b", "c"}
    assert_allclose(path.intercept.sum(axis=1), 0.0, atol=1e-9)
    with pytest.raises(ParameterError, match=r"'at' parameter is 0\.5"):
        path.predict_proba(X, 0.5)


def test_a_path_prints_as_a_short_table_and_converts_to_a_frame():
    X, y = sample()
    path = logistic_path(X, y, cv=3)
    text = str(path)
    assert len(text.splitlines()) < 30
    assert max(map(len, text.splitlines())) <= 80
    assert "lambda_1se" in text
    assert "dev_ratio" in text
    frame = path.to_frame()
    assert list(frame.columns) == ["lambda", "df", "dev_ratio", "cv_mean", "cv_se"]
    assert_array_equal(frame["lambda"], path.lambdas)


def test_a_path_without_folds_has_no_best_lambda():
    path = logistic_path(*sample(), n_lambdas=5)
    with pytest.raises(ParameterError, match="give `cv`"):
        _ = path.lambda_min_


def test_folds_of_a_scan_are_refused(tmp_path):
    X, y = sample()
    pd.DataFrame(X).rename(columns=str).assign(y=y).to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(DataError, match="drawn in memory"):
        logistic_path(scan(tmp_path / "rows.csv", target="y"), cv=3)


def test_both_routes_follow_the_same_path(monkeypatch):
    X, y = sample(n=100, p=30)
    expected = logistic_path(X, y, 0.7, n_lambdas=25)
    assert expected.solver_ == "coordinate-gram"
    original = elastic_net.follower_for
    monkeypatch.setattr(
        elastic_net, "follower_for", lambda *a, **k: original(*a, **{**k, "route": "coordinate-columns"})
    )
    found = logistic_path(X, y, 0.7, n_lambdas=25)
    assert found.solver_ == "coordinate-columns"
    assert_allclose(found.coef * X.std(axis=0), expected.coef * X.std(axis=0), rtol=1e-5, atol=2e-6)
