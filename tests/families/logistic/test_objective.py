"""The log-likelihood as solvers see it, wherever the rows are and however they are scaled."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from discrim import parallel
from discrim.block import Block
from discrim.engines import RowPasses
from discrim.errors import DataError
from discrim.families.logistic import objective as module
from discrim.families.logistic.fit import PenaltyTerms, Problem, fit_smooth
from discrim.families.logistic.objective import Coordinates, Objective, Span, codes_in
from discrim.sources import Attached, open_rows, scan
from discrim.statistics.likelihood import BLOCKS, CURVATURE, GRADIENT, LOSS


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(50, 4)) * [1, 10, 0.1, 3] + [0, 5, 1, -2], rng.permutation(np.arange(50) % 3)


def coordinates_of(kind, intercept=True):
    rng = np.random.default_rng(1)
    shift = rng.normal(size=4) if intercept else np.zeros(4)
    if kind == "plain":
        return Coordinates(np.zeros(4), np.ones(4), intercept)
    return Coordinates(shift, rng.uniform(0.5, 2, 4), intercept, rng.normal(size=(4, 3)) if kind == "basis" else None)


every_kind = pytest.mark.parametrize("kind", ["plain", "scaled", "basis"])
with_and_without = pytest.mark.parametrize("intercept", [True, False])


@every_kind
@with_and_without
@pytest.mark.parametrize("classes", [1, 3])
def test_coefficients_go_to_the_users_units_and_back(kind, intercept, classes):
    c = coordinates_of(kind, intercept)
    theta = np.random.default_rng(2).normal(size=(classes, c.size))
    theta = theta[0] if classes == 1 else theta
    assert_allclose(c.from_user(c.to_user(theta)), theta, rtol=1e-12, atol=1e-12)
    assert c.to_user(theta).shape == (*theta.shape[:-1], 5)
    if not intercept:
        assert_array_equal(c.to_user(theta)[..., 0], 0.0)


@every_kind
@with_and_without
def test_both_kinds_of_coefficients_predict_the_same(data, kind, intercept):
    x, _ = data
    c = coordinates_of(kind, intercept)
    theta = np.random.default_rng(2).normal(size=c.size)
    z = (x - c.shift) / c.scale if c.basis is None else (x - c.shift) @ c.basis
    z = np.column_stack([np.ones(len(z)), z]) if intercept else z
    user = c.to_user(theta)
    assert_allclose(user[0] + x @ user[1:], z @ theta, rtol=1e-11, atol=1e-11)
    assert_allclose(c.matrix() @ theta, user, rtol=1e-12, atol=1e-12)
    assert c.matrix().shape == (5, c.size)


@with_and_without
def test_coordinates_of_no_columns_are_the_intercept_alone(intercept):
    c = Coordinates(np.zeros(0), np.ones(0), intercept)
    assert c.size == int(intercept)
    theta = np.full(c.size, 2.0)
    assert c.to_user(theta).tolist() == [2.0 if intercept else 0.0]
    assert_array_equal(c.from_user(c.to_user(theta)), theta)


@every_kind
@with_and_without
@pytest.mark.parametrize("softmax", [False, True])
def test_derivatives_are_those_with_respect_to_the_solvers_coefficients(data, kind, intercept, softmax):
    x, y = data
    y = y if softmax else (y > 0).astype(int)
    objective = Objective(RowPasses(open_rows(x, y)), np.unique(y), coordinates_of(kind, intercept), softmax=softmax)
    theta = 0.1 * np.random.default_rng(3).normal(size=objective.shape)
    at = objective.at(theta, depth=CURVATURE)
    h = 1e-6
    for i in range(theta.size):
        step = np.zeros(theta.size)
        step[i] = h
        step = step.reshape(theta.shape)
        up, down = objective.at(theta + step), objective.at(theta - step)
        assert_allclose(at.gradient.ravel()[i], (up.loss - down.loss) / (2 * h), rtol=1e-5, atol=1e-5)
        assert_allclose(at.hessian[i], (up.gradient - down.gradient).ravel() / (2 * h), rtol=1e-5, atol=1e-5)
    if softmax:
        q = theta.shape[1]
        whole = at.hessian.reshape(3, q, 3, q)
        assert_allclose(objective.at(theta, depth=BLOCKS).hessian, [whole[k, :, k] for k in range(3)], rtol=1e-10)


@every_kind
@pytest.mark.parametrize("softmax", [False, True])
@pytest.mark.parametrize("depth", [LOSS, GRADIENT, CURVATURE, BLOCKS])
def test_sparse_rows_and_a_scan_give_the_sums_of_the_dense_rows(data, kind, softmax, depth, tmp_path, monkeypatch):
    if depth == BLOCKS and not softmax:
        pytest.skip("two classes have one block")
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    x, y = data
    y = y if softmax else (y > 0).astype(int)
    columns = {name: x[:, j] for j, name in enumerate("abcd")}
    parquet.write_table(pa.table({**columns, "y": y}), tmp_path / "t.parquet")
    c, classes = coordinates_of(kind), np.unique(y)
    # Sparse rows are made dense a few at a time, and are not shifted.
    monkeypatch.setattr(module, "DENSE", 28)
    theta, along = 0.1 * np.random.default_rng(3).normal(size=(2, *((3, c.size) if softmax else (c.size,))))

    def sums(rows, coordinates):
        return Objective(rows, classes, coordinates, softmax=softmax).at(theta, depth=depth, along=along, steps=[1.0])

    unshifted = Coordinates(np.zeros(4), c.scale, c.intercept, c.basis)
    for rows, coordinates in [
        (RowPasses(open_rows(sparse.csr_array(x), y)), unshifted),
        (RowPasses(scan(tmp_path / "t.parquet", target="y", batch_rows=7)), c),
    ]:
        found, expected = sums(rows, coordinates), sums(RowPasses(open_rows(x, y)), coordinates)
        for name in ("loss", "gradient", "hessian", "losses", "weight", "rows"):
            assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-11, atol=1e-11, err_msg=name)


@every_kind
@pytest.mark.parametrize("weights", ["none", "some", "zero"])
@pytest.mark.parametrize("dtype", [float, np.float32])
def test_gradients_of_sparse_rows_by_their_columns_are_those_of_the_dense_rows(data, kind, weights, dtype):
    x, y = data
    x = x.astype(dtype)
    c, classes = coordinates_of(kind), np.unique(y)
    unshifted = Coordinates(np.zeros(4), c.scale, c.intercept, c.basis)
    w = None if weights == "none" else np.random.default_rng(5).uniform(0.1, 2.0, size=len(y))
    if w is not None and weights == "zero":
        w[3] = 0.0
        x[3, 1] = np.nan
    theta = np.random.default_rng(3).normal(size=(3, c.size))

    def sums(rows):
        return Objective(RowPasses(open_rows(rows, y, w)), classes, unshifted, softmax=True).at(theta)

    found, expected = sums(sparse.csr_array(x)), sums(x)
    assert np.isfinite(expected.loss)
    for name in ("loss", "gradient", "hessian", "losses", "weight", "rows"):
        assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-11, atol=1e-11, err_msg=name)


def test_the_copy_of_the_columns_goes_with_the_fit():
    x = sparse.random_array((90, 40), density=0.2, format="csr", rng=np.random.default_rng(0))
    rows = RowPasses(open_rows(x, np.arange(90) % 3))
    problem = Problem(PenaltyTerms(0.0, 1.0), solver="limited-memory", classes=np.arange(3))
    objective = fit_smooth(rows, problem).objective
    assert "columns" not in vars(objective)
    assert objective.columns.shape == (40, 90)


def test_losses_on_a_line_are_the_losses_there(data):
    x, y = data
    objective = Objective(RowPasses(open_rows(x, y > 0)), np.array([False, True]), coordinates_of("scaled"))
    theta, along = np.random.default_rng(4).normal(size=(2, 5)) / 10
    found = objective.at(theta, depth=LOSS, along=along, steps=[0.0, 0.5, -1.0])
    each = [objective.at(theta + s * along, depth=LOSS).loss for s in (0.0, 0.5, -1.0)]
    assert_allclose(found.losses, each, rtol=1e-13)


def test_passes_are_counted_and_nan_is_told_by_the_column(data):
    x, y = data
    objective = Objective(RowPasses(open_rows(x, y > 0)), np.array([False, True]), coordinates_of("plain"))
    for _ in range(3):
        objective.at(np.zeros(5), depth=LOSS)
    assert objective.passes == 3
    dirty = x.copy()
    dirty[4, 2] = np.inf
    with pytest.raises(DataError, match="column 'x2' has 1 infinite"):
        Objective(RowPasses(open_rows(dirty, y > 0)), np.array([False, True]), coordinates_of("plain")).at(np.ones(5))


def test_an_offset_is_added_to_the_linear_predictor_and_a_share_is_part_of_a_row(data):
    x, y = data
    y = (y > 0).astype(int)
    rows, c = open_rows(x, y), coordinates_of("scaled")
    theta = np.random.default_rng(5).normal(size=5) / 10
    plain = Objective(RowPasses(rows), rows.classes, c)
    shifted = Objective(RowPasses(Attached(rows, rows.classes, offset=np.full(50, 0.3))), rows.classes, c)
    moved = theta + np.eye(5)[0] * 0.3
    assert_allclose(shifted.at(theta).loss, plain.at(moved).loss, rtol=1e-13)
    shared = Objective(RowPasses(Attached(rows, rows.classes, share=y * 1.0)), rows.classes, c)
    assert_allclose(shared.at(theta).gradient, plain.at(theta).gradient, rtol=1e-12)


def test_other_coordinates_see_the_same_likelihood(data):
    x, y = data
    first = Objective(RowPasses(open_rows(x, y > 0)), np.array([False, True]), coordinates_of("plain"))
    other = first.with_coordinates(coordinates_of("scaled"))
    theta = np.random.default_rng(6).normal(size=5) / 10
    assert_allclose(other.at(theta).loss, first.at(other.coordinates.to_user(theta)).loss, rtol=1e-12)


def test_a_block_that_knows_some_classes_is_recoded():
    block = Block(np.zeros((3, 1)), np.array([0, 1, 0], np.int32), np.array(["b", "d"]))
    assert codes_in(block, np.array(["a", "b", "c", "d"])).tolist() == [1, 3, 1]
    assert codes_in(block, np.array(["b", "d"])) is block.codes


def test_the_number_of_threads_changes_no_bit(monkeypatch):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60_000, 6)), rng.integers(0, 3, 60_000)
    for labels, softmax in ((y > 0, False), (y, True)):
        unit = Coordinates(np.zeros(6), np.ones(6))
        objective = Objective(RowPasses(open_rows(x, labels)), np.unique(labels), unit, softmax=softmax)
        theta, answers = rng.normal(size=objective.shape), set()
        for threads in (1, 3):
            monkeypatch.setattr(parallel, "_worker_count", lambda threads=threads: threads)
            at = objective.at(theta, depth=2)
            answers.add((np.float64(at.loss).hex(), at.gradient.tobytes(), at.hessian.tobytes()))
        assert len(answers) == 1


def test_a_basis_that_is_left_unwritten_tells_the_same_as_the_basis():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(5, 9))
    values, vectors = np.linalg.eigh(rows @ rows.T)
    span = Span(rows, vectors / np.sqrt(values))
    lazy = Coordinates(np.arange(9.0), np.ones(9), True, span)
    written = Coordinates(np.arange(9.0), np.ones(9), True, rows.T @ span.mixing)
    theta, user = rng.normal(size=(3, 6)), rng.normal(size=(3, 10))
    assert lazy.size == written.size == 6
    assert_allclose(lazy.to_user(theta), written.to_user(theta), rtol=1e-12)
    assert_allclose(lazy.from_user(user), written.from_user(user), rtol=1e-9)
    assert_allclose(lazy.from_user(lazy.to_user(theta)), theta, rtol=1e-9)
    saved = pickle.loads(pickle.dumps(lazy))
    assert isinstance(saved.turned, np.ndarray)
    assert_allclose(saved.basis, written.basis, rtol=1e-12)
