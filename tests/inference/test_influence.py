"""Single rows: residuals and leverage against statsmodels and the hat matrix, leaving out against refitting."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, special

from discrim import LogisticRegression
from discrim.block import Block
from discrim.engines import RowPasses
from discrim.errors import DataError, ParameterError
from discrim.families.logistic.firth import firth
from discrim.families.logistic.objective import Coordinates
from discrim.inference import influence
from discrim.inference.covariance import standard_errors
from discrim.inference.glm_summary import glm_summary
from discrim.inference.influence import (
    cooks_distance,
    each_row,
    leave_one_out,
    leverage,
    linear_parts,
    residuals,
    take_rows,
    without_row,
)
from discrim.sources import open_rows


def vcov(fitted):
    return standard_errors(fitted, "model").vcov


def design(x):
    return np.column_stack([np.ones(len(x)), x])


@pytest.fixture(scope="module")
def calm():
    """Many rows for few columns: no row decides anything alone."""
    rng = np.random.default_rng(8)
    x = rng.normal(size=(80, 2))
    return x, (rng.random(80) < special.expit(x @ [1.0, -0.5])).astype(int)


def statsmodels_fit(x, successes, trials, offset):
    sm = pytest.importorskip("statsmodels.api")
    response = np.column_stack([successes, trials - successes])
    return sm.GLM(response, sm.add_constant(x), family=sm.families.Binomial(), offset=offset).fit(tol=1e-13)


def test_residuals_of_grouped_rows_are_those_of_statsmodels(fit, grouped):
    x, successes, trials, offset = grouped
    fitted, expected = fit(x, successes, trials=trials, offset=offset), statsmodels_fit(*grouped)
    assert_allclose(residuals(fitted, "deviance"), expected.resid_deviance, atol=1e-7)
    assert_allclose(residuals(fitted, "pearson"), expected.resid_pearson, atol=1e-7)
    # There these are in successes, here as in R in shares.
    assert_allclose(residuals(fitted, "response"), expected.resid_response / trials, atol=1e-8)
    assert_allclose(residuals(fitted, "working"), expected.resid_working / trials**2, rtol=1e-6)


def test_leverage_and_cooks_distance_are_those_of_statsmodels(fit, grouped):
    x, successes, trials, offset = grouped
    fitted, expected = fit(x, successes, trials=trials, offset=offset), statsmodels_fit(*grouped).get_influence()
    assert_allclose(leverage(fitted), expected.hat_matrix_diag, rtol=1e-6)
    assert_allclose(cooks_distance(fitted), expected.cooks_distance[0], rtol=1e-5)


def test_squared_deviance_residuals_sum_to_the_deviance(fit, binary, grouped, three):
    x, successes, trials, offset = grouped
    weight = np.random.default_rng(0).uniform(0.5, 2, len(binary[0]))
    for fitted in (fit(x, successes, trials=trials, offset=offset), fit(*binary, weight=weight), fit(*three)):
        assert_allclose(np.sum(residuals(fitted, "deviance") ** 2), fitted.deviance, rtol=1e-9)


def test_residuals_follow_the_modelled_class(fit, binary):
    for kind in ("deviance", "pearson", "response", "working"):
        assert_allclose(residuals(fit(*binary, reference=1), kind), -residuals(fit(*binary), kind))


def test_leverage_sums_to_the_parameters(fit, binary, three):
    assert_allclose(leverage(fit(*binary)).sum(), 4)
    assert_allclose(leverage(fit(*three, reference=1)).sum(), 6)
    ridge = fit(*binary, alpha=5.0)
    assert_allclose(leverage(ridge).sum(), glm_summary(ridge).parameters)


def test_leverage_of_three_classes_is_the_trace_of_the_hat_matrix(fit, three):
    x, y = three
    fitted = fit(x, y)
    z, mu = (
        design(x),
        special.softmax(np.column_stack([np.zeros(200), design(x) @ fitted.coef.reshape(2, 3).T]), axis=1),
    )
    mu = mu[:, 1:]
    for i in (0, 17, 199):
        W = np.diag(mu[i]) - np.outer(mu[i], mu[i])
        Z = np.kron(np.eye(2), z[i])
        assert_allclose(leverage(fitted)[i], np.trace(W @ Z @ vcov(fitted) @ Z.T), rtol=1e-6)


def test_cooks_distance_of_three_classes_is_that_of_a_newton_step_without_the_row(fit, three):
    x, y = three
    fitted = fit(x, y)
    z = design(x)
    mu = special.softmax(np.column_stack([np.zeros(200), z @ fitted.coef.reshape(2, 3).T]), axis=1)[:, 1:]
    truth = np.column_stack([y == "b", y == "c"]).astype(float)
    H = np.linalg.inv(vcov(fitted))
    for i in (3, 50, 120):
        Z = np.kron(np.eye(2), z[i])
        W = np.diag(mu[i]) - np.outer(mu[i], mu[i])
        # The gradient without the row is that of the row, turned; the curvature is less by the row's.
        delta = np.linalg.solve(H - Z.T @ W @ Z, Z.T @ (truth[i] - mu[i]))
        assert_allclose(cooks_distance(fitted)[i], delta @ H @ delta / 6, rtol=1e-5)


def test_the_closed_form_is_close_to_refitting_without_the_row(fit, calm):
    x, y = calm
    fitted = fit(x, y)
    found = leave_one_out(fitted)
    exact = np.array([design(x)[i] @ fit(np.delete(x, i, 0), np.delete(y, i)).coef for i in range(80)])
    assert_allclose(found.eta, exact, atol=0.05)
    # It is far closer to the fit without the row than the fit with it is.
    own = design(x) @ fitted.coef
    assert np.abs(found.eta - exact).max() < 0.15 * np.abs(own - exact).max()
    check = found.exact()
    assert_allclose(check.eta, exact, rtol=1e-6, atol=1e-7)
    assert_allclose(check.difference, np.abs(special.expit(exact) - found.posterior[:, 1]).max(), rtol=1e-4)


def test_the_formula_is_the_one_of_the_textbook(fit, calm):
    x, y = calm
    fitted = fit(x, y, alpha=2.0)
    z = design(x)
    mu = special.expit(z @ fitted.coef)
    w = mu * (1 - mu)
    H = z.T @ (w[:, None] * z) + np.diag([0, 2.0, 2.0])
    a = np.einsum("ij,jk,ik->i", z, np.linalg.inv(H), z)
    assert_allclose(leave_one_out(fitted).eta, z @ fitted.coef + a * (mu - y) / (1 - w * a), rtol=1e-6)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_three_classes_are_left_out_alike(fit, three, alpha):
    x, y = three
    found = leave_one_out(fit(x, y, alpha=alpha))
    rows = [0, 30, 77, 150]
    check = found.exact(rows)
    for i, posterior in zip(rows, check.posterior, strict=True):
        without = fit(np.delete(x, i, 0), np.delete(y, i), alpha=alpha)
        eta = np.r_[0.0, without.coef.reshape(2, 3) @ design(x)[i]]
        assert_allclose(posterior, special.softmax(eta), rtol=1e-6)
    assert check.difference < 2e-3
    assert_allclose(found.posterior.sum(axis=1), 1)


def test_figures_of_leaving_out_are_weighted_means(fit, binary):
    x, y = binary
    weight = np.random.default_rng(3).uniform(0.5, 3, len(x))
    found = leave_one_out(fit(x, y, weight=weight))
    assert_allclose(found.error, np.average(found.predicted != y, weights=weight))
    own = np.where(y == "yes", found.posterior[:, 1], found.posterior[:, 0])
    assert_allclose(found.log_loss, np.average(-np.log(own), weights=weight))
    assert repr(found).startswith("LeaveOneOut(150 rows, error=")


def test_a_group_is_left_out_whole(fit, grouped):
    x, successes, trials, offset = grouped
    found = leave_one_out(fit(x, successes, trials=trials, offset=offset))
    check = found.exact([5])
    keep = np.arange(40) != 5
    without = fit(x[keep], successes[keep], trials=trials[keep], offset=offset[keep])
    assert_allclose(check.eta[0], design(x)[5] @ without.coef + offset[5], rtol=1e-6)
    wrong = np.where(found.predicted == 1, trials - successes, successes)
    assert_allclose(found.error, wrong.sum() / trials.sum())


def test_rows_of_large_leverage_are_checked_where_there_are_many(fit):
    rng = np.random.default_rng(0)
    x = rng.standard_t(3, size=(160, 1))
    fitted = fit(x, (rng.random(160) < special.expit(x[:, 0])).astype(int))
    check = leave_one_out(fitted).exact()
    assert len(check.rows) == 100
    others = np.setdiff1d(np.arange(160), check.rows)
    assert leverage(fitted)[check.rows].min() >= leverage(fitted)[others].max()


def test_firths_fit_is_left_out_with_its_correction(fit, calm):
    x, y = calm
    ordinary = fit(x, y)
    fitted = replace(ordinary, penalty="firth", solution=firth(ordinary.objective, np.zeros(3)))
    check = leave_one_out(fitted).exact([4])
    part = fit(np.delete(x, 4, 0), np.delete(y, 4))
    theta = firth(part.objective, np.zeros(3)).theta
    assert_allclose(check.eta[0], design(x)[4] @ part.coordinates.to_user(theta), rtol=1e-6)


def test_after_an_l1_penalty_only_chosen_columns_move(fit, calm):
    x, y = calm
    x = np.column_stack([x, np.random.default_rng(0).normal(size=80)])
    fitted = fit(x[:, :2], y)
    theta = np.r_[fitted.theta, 0.0]
    wide = fit(x, y)
    chosen = replace(wide, penalty="l1", solution=replace(wide.solution, theta=theta))
    assert_allclose(leave_one_out(chosen).eta, leave_one_out(fitted).eta, rtol=1e-6)


def test_blocks_and_sparse_rows_give_what_one_array_gives(fit, fit_of_rows, three, tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet
    from scipy import sparse

    from discrim.sources import scan

    x, y = three
    whole = fit(x, y)
    parquet.write_table(pa.table({"u": x[:, 0], "v": x[:, 1], "y": y}), tmp_path / "rows.parquet")
    scanned = scan(tmp_path / "rows.parquet", target="y", batch_rows=37)
    objective = type(whole.objective)(RowPasses(scanned), whole.classes, whole.coordinates, softmax=True)
    streamed = replace(whole, objective=objective)
    thin = fit_of_rows(RowPasses(open_rows(sparse.csr_array(x), y)))
    for other in (streamed, thin):
        assert_allclose(residuals(other, "pearson"), residuals(whole, "pearson"), rtol=1e-6)
        assert_allclose(leverage(other), leverage(whole), rtol=1e-6)
        assert_allclose(cooks_distance(other), cooks_distance(whole), rtol=1e-6)
        assert_allclose(leave_one_out(other).posterior, leave_one_out(whole).posterior, rtol=1e-6)
        assert_allclose(leave_one_out(other).exact([150, 3]).eta, leave_one_out(whole).exact([150, 3]).eta, rtol=1e-5)


def test_what_cannot_be_answered_is_refused(fit, binary, three):
    with pytest.raises(ParameterError, match="'kind' parameter is 'raw'; it must be one of 'deviance', 'pearson'"):
        residuals(fit(*binary), "raw")
    with pytest.raises(ParameterError, match="'kind' parameter is 'working'"):
        residuals(fit(*three), "working")
    with pytest.raises(ParameterError, match=r"'rows' parameter is \[150\]; it must be row numbers from 0 to 149"):
        leave_one_out(fit(*binary)).exact([150])
    saved = pickle.loads(pickle.dumps(fit(*binary)))
    for ask, name in ((residuals, "residuals"), (leverage, "leverage"), (cooks_distance, "cooks_distance")):
        with pytest.raises(DataError, match=rf"{name}\(\) needs the rows"):
            ask(saved)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("classes", [2, 3])
def test_residuals_keep_their_digits_where_probabilities_round_to_one(fit, classes):
    x = np.array([-60.0, -1.0, 0.0, 1.0, 0.5, 90.0])[:, None]
    y = np.array([0, 1, 0, 1, classes - 1, 1])
    fitted = fit(x, y, alpha=0.01)
    fitted = replace(fitted, solution=replace(fitted.solution, theta=8.0 * fitted.theta))
    beta = np.vstack([[0.0, 0.0], fitted.coef.reshape(-1, 2)])
    eta = beta[:, 0] + x * beta[:, 1]
    assert np.abs(eta).max() > 80  # where 1 - mu is 0
    # The log-odds of each class against all others, from their definition.
    odds = np.stack([eta[:, k] - special.logsumexp(np.delete(eta, k, axis=1), axis=1) for k in range(classes)], axis=1)
    own = np.eye(classes)[y] > 0
    expected = np.where(own, np.exp(-odds / 2), -np.exp(odds / 2))
    assert_allclose(residuals(fitted, "pearson"), expected[:, 1] if classes == 2 else expected, rtol=1e-8)
    if classes == 2:
        working = np.where(own, 1 + np.exp(-odds), -1 - np.exp(odds))
        assert_allclose(residuals(fitted, "working"), working[:, 1], rtol=1e-8)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(23, 3)), rng.integers(0, 3, 23)


def sources(data, tmp_path):
    """The rows as one array, as sparse rows, and as blocks that are read from a file."""
    x, y = data
    yield RowPasses(open_rows(x, y))
    yield RowPasses(open_rows(sparse.csr_array(x), y))
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    from discrim.sources import scan

    parquet.write_table(pa.table({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": y}), tmp_path / "t.parquet")
    yield RowPasses(scan(tmp_path / "t.parquet", target="y", batch_rows=5))


def test_rows_come_back_in_their_order(data, tmp_path):
    for rows in sources(data, tmp_path):
        values, codes = each_row(rows, lambda block: (block.x @ [1.0, 2.0, 3.0], block.classes[block.codes]))
        assert_allclose(values, data[0] @ [1.0, 2.0, 3.0])
        assert_array_equal(codes, data[1])


def test_threads_keep_the_order(monkeypatch):
    x = np.arange(400_000.0).reshape(-1, 1)
    (values,) = each_row(RowPasses(open_rows(x, np.zeros(len(x), int))), lambda block: (2 * block.x[:, 0],))
    assert_array_equal(values, 2 * x[:, 0])


def test_blocks_are_cut_where_a_row_needs_much_memory(data, monkeypatch):
    monkeypatch.setattr(influence, "MOST_HELD", 100)
    sizes = []

    def of(block):
        sizes.append(len(block))
        return (block.x[:, 0],)

    (values,) = each_row(RowPasses(open_rows(*data)), of, size=20)
    assert max(sizes) == 5
    assert_array_equal(values, data[0][:, 0])


def test_chosen_rows_are_found_wherever_they_are(data, tmp_path):
    for rows in sources(data, tmp_path):
        found = take_rows(rows, [21, 0, 7, 21])
        x = [block.x if isinstance(block.x, np.ndarray) else block.x.toarray() for block in found]
        assert_allclose(np.vstack(x), data[0][[21, 0, 7, 21]])
        assert [block.classes[block.codes[0]] for block in found] == list(data[1][[21, 0, 7, 21]])


def test_a_row_that_is_left_out_has_no_weight(data, tmp_path):
    for rows in sources(data, tmp_path):
        without = without_row(rows, 7)
        weight = np.concatenate([np.ones(len(b)) if b.weight is None else b.weight for b in without.blocks()])
        assert_array_equal(np.flatnonzero(weight == 0), [7])
        assert all(block.weight is None for block in rows.blocks())


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("basis", [True, False])
def test_linear_parts_are_those_of_the_users_coefficients(data, intercept, basis):
    x, y = data
    rng = np.random.default_rng(1)
    coordinates = Coordinates(
        rng.normal(size=3) * intercept, rng.uniform(1, 2, 3), intercept, rng.normal(size=(3, 2)) if basis else None
    )
    theta = rng.normal(size=(coordinates.size, 4))
    user = coordinates.to_user(theta.T)
    expected = user[:, :1].T + x @ user[:, 1:].T
    for held in (x, sparse.csr_array(x)):
        assert_allclose(linear_parts(Block(held, y, np.arange(3)), coordinates, theta), expected, atol=1e-12)


def test_dfbetas_are_those_of_statsmodels():
    sm = pytest.importorskip("statsmodels.api", reason="statsmodels is where the numbers come from")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)) * [1.0, 30.0] + [0.0, 100.0]
    y = (X[:, 0] + rng.logistic(size=60) > 0).astype(int)
    expected = sm.GLM(y, sm.add_constant(X), sm.families.Binomial()).fit(tol=1e-14).get_influence().dfbetas
    assert_allclose(LogisticRegression(C=np.inf).fit(X, y).dfbetas(), expected, rtol=1e-6, atol=1e-10)


def test_dfbetas_of_several_classes_are_near_refits():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 2))
    y = (X + rng.gumbel(size=(150, 2))).argmax(axis=1) + (rng.random(150) < 0.3)
    model = LogisticRegression(C=np.inf, reference=1).fit(X, y)
    found, whole = model.dfbetas(), model.summary()
    for i in (0, 17, 80):
        kept = np.arange(150) != i
        without = LogisticRegression(C=np.inf, reference=1).fit(X[kept], y[kept]).summary().coef
        assert_allclose(found[i], (whole.coef - without) / whole.std_error, atol=0.02)
