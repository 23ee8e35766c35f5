"""The likelihood kernels against their NumPy reference, and the reference against differences of the loss."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from discrim import kernels
from discrim.kernels.logistic import reference_likelihood as reference
from discrim.statistics.likelihood import BLOCKS, CURVATURE, GRADIENT, LOSS

BACKENDS = pytest.mark.parametrize("backend", [kernels, reference], ids=["kernel", "reference"])
ROWS, WIDTHS = (0, 1, 5, 8, 1000), (0, 1, 4, 7, 8, 9, 20, 33)
NOTHING = np.empty(0)
STEPS = np.array([0.5, 1.0, -2.0])
LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "every other row": lambda a: np.repeat(a, 2, axis=0)[::2],
    "every other column": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "backwards": lambda a: np.ascontiguousarray(a[::-1, ::-1])[::-1, ::-1],
    "inside a wider array": lambda a: np.pad(a, ((1, 1), (2, 3)), constant_values=np.nan)[1:-1, 2:-3],
}
# What may go with the rows, by name.
EXTRAS = ["plain", "weight", "offset", "share", "all"]


def case(n, p, classes=2, extra="plain", seed=0):
    """x, response, shift, theta and a direction."""
    rng = np.random.default_rng([seed, n, p, classes])
    x = rng.normal(size=(n, p)) * 2 + 1
    codes = rng.integers(0, classes, n).astype(np.int32)
    weight = rng.uniform(0.2, 3, n) * (rng.random(n) > 0.2) if extra in {"weight", "all"} else None
    share = rng.random(n) if extra in {"share", "all"} else None
    offset = rng.normal(size=n) if extra in {"offset", "all"} else None
    shape = (p + 1,) if classes == 2 else (classes, p + 1)
    theta, along = rng.normal(size=(2, *shape)) / np.sqrt(p + 1)
    return x, (codes, share, weight, offset), rng.normal(size=p), theta, along


def kernel_of(backend, theta):
    return backend.binary_likelihood if theta.ndim == 1 else backend.softmax_likelihood


def ask(backend, given, depth, *, steps=STEPS, x=None):
    plain, response, shift, theta, along = given
    return kernel_of(backend, theta)(plain if x is None else x, response, shift, theta, along, steps, depth)


def ask_sparse(backend, given, depth, index=np.int32, dtype=float):
    x, response, _, theta, along = given
    rows = sparse.csr_array(x.astype(dtype))
    rows = (rows.data, rows.indices.astype(index), rows.indptr.astype(index))
    return backend.sparse_likelihood(rows, response, theta, along, STEPS, depth)


def assert_same(found, expected, rtol=1e-11):
    for name, a, b in zip(("loss", "gradient", "hessian", "losses", "least"), found, expected, strict=True):
        assert np.shape(a) == np.shape(b), name
        scale = 1.0 + np.abs(b).max() if np.size(b) and np.isfinite(b).all() else 1.0
        assert_allclose(a, b, rtol=rtol, atol=rtol * scale, err_msg=name)


@pytest.mark.parametrize("p", WIDTHS)
@pytest.mark.parametrize("extra", EXTRAS)
def test_two_classes_are_summed_as_the_reference_does(p, extra):
    for n in ROWS:
        given = case(n, p, extra=extra)
        for depth in (LOSS, GRADIENT, CURVATURE):
            assert_same(ask(kernels, given, depth), ask(reference, given, depth))


@pytest.mark.parametrize("p", WIDTHS)
@pytest.mark.parametrize("classes", [3, 8, 9, 17])
@pytest.mark.parametrize("extra", ["plain", "weight"])
def test_more_classes_are_summed_as_the_reference_does(p, classes, extra):
    for n in (0, 1, 5, 8, 200):
        given = case(n, p, classes, extra)
        for depth in (LOSS, GRADIENT, CURVATURE, BLOCKS):
            assert_same(ask(kernels, given, depth), ask(reference, given, depth))


def test_two_classes_may_be_asked_as_softmax():
    x, response, shift, theta, along = case(50, 3)
    both, rise = np.vstack([np.zeros(4), theta]), np.vstack([np.zeros(4), along])
    one = kernels.binary_likelihood(x, response, shift, theta, along, STEPS, CURVATURE)
    two = kernels.softmax_likelihood(x, response, shift, both, rise, STEPS, CURVATURE)
    assert_allclose(two[0], one[0])
    assert_allclose(two[1], [-one[1], one[1]], atol=1e-12)
    assert_allclose(two[2].reshape(2, 4, 2, 4)[1, :, 1], one[2], atol=1e-12)
    assert_allclose(two[3], one[3])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("classes", [2, 3, 9])
def test_the_memory_layout_and_precision_of_the_rows_do_not_change_the_sums(layout, dtype, classes):
    for n, p in ((1, 1), (5, 8), (8, 9), (37, 7), (300, 33)):
        given = case(n, p, classes, "weight")
        x = given[0].astype(dtype)
        found = ask(kernels, given, CURVATURE, x=LAYOUTS[layout](x))
        assert_same(found, ask(reference, given, CURVATURE, x=x.astype(float)))


@pytest.mark.parametrize("extra", ["plain", "all"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("classes", [2, 3, 9])
def test_compressed_rows_are_summed_as_dense_ones(extra, index, dtype, classes):
    for n, p in ((0, 3), (1, 1), (5, 0), (40, 9)):
        given = case(n, p, classes, "weight" if classes > 2 and extra == "all" else extra)
        x = np.where(np.random.default_rng(0).random((n, p)) < 0.6, 0.0, given[0]).astype(dtype)
        given = (x.astype(float), given[1], np.zeros(p), *given[3:])
        for depth in (LOSS, GRADIENT):
            expected = ask(reference, given, depth)
            assert_same(ask_sparse(kernels, given, depth, index, dtype), expected)
            assert_same(ask_sparse(reference, given, depth, index, dtype), expected)


def test_rows_of_a_slice_of_a_compressed_matrix_may_begin_late_in_it():
    given = case(6, 4)
    rows = sparse.csr_array(given[0])
    late = (rows.data, rows.indices, rows.indptr[3:].copy())
    response = (given[1][0][3:].copy(), None, None, None)
    found = kernels.sparse_likelihood(late, response, given[3], None, NOTHING, GRADIENT)
    x = np.ascontiguousarray(given[0][3:])
    expected = reference.binary_likelihood(x, response, np.zeros(4), given[3], None, NOTHING, GRADIENT)
    assert_same(found, expected)


@BACKENDS
@pytest.mark.parametrize("classes", [2, 3, 9])
@pytest.mark.parametrize("extra", ["plain", "all"])
def test_gradient_and_curvature_are_the_derivatives_of_the_loss(backend, classes, extra):
    given = case(40, 4, classes, "weight" if classes > 2 and extra == "all" else extra)
    x, response, shift, theta, _ = given

    def at(point, depth):
        return kernel_of(backend, theta)(x, response, shift, point, None, NOTHING, depth)

    _, gradient, hessian, _, _ = at(theta, CURVATURE)
    h = 1e-5
    for i in range(theta.size):
        step = np.zeros(theta.size)
        step[i] = h
        up, down = (at(theta + sign * step.reshape(theta.shape), GRADIENT) for sign in (1, -1))
        assert_allclose(gradient.ravel()[i], (up[0] - down[0]) / (2 * h), atol=1e-6)
        assert_allclose(hessian[i], (up[1] - down[1]).ravel() / (2 * h), atol=1e-6)
    if classes > 2:
        blocks, q = at(theta, BLOCKS)[2], theta.shape[1]
        assert_allclose(blocks, [hessian[k * q : (k + 1) * q, k * q : (k + 1) * q] for k in range(classes)], atol=1e-12)


@BACKENDS
@pytest.mark.parametrize("classes", [2, 5])
def test_losses_along_a_line_are_the_losses_there(backend, classes):
    given = case(60, 5, classes, "weight")
    x, response, shift, theta, along = given
    losses = ask(backend, given, GRADIENT)[3]
    each = [kernel_of(backend, theta)(x, response, shift, theta + s * along, None, NOTHING, LOSS)[0] for s in STEPS]
    assert_allclose(losses, each, rtol=1e-13)


@BACKENDS
@pytest.mark.parametrize("classes", [2, 3])
def test_without_a_direction_no_losses_are_told(backend, classes):
    x, response, shift, theta, _ = case(9, 2, classes)
    found = kernel_of(backend, theta)(x, response, shift, theta, None, NOTHING, GRADIENT)
    assert found[3].shape == (0,)
    assert found[2].shape == (0, 0)


@pytest.mark.parametrize("classes", [2, 3, 9])
def test_a_row_of_weight_zero_counts_for_nothing_whatever_it_holds(classes):
    x, (codes, *_), shift, theta, along = case(60, 7, classes)
    weight = np.random.default_rng(1).integers(0, 3, 60).astype(float)
    dirty = x.copy()
    dirty[weight == 0] = np.array([np.nan, np.inf, -np.inf, 1e300, 0, 1, 2])
    kept = weight > 0
    found = kernel_of(kernels, theta)(dirty, (codes, None, weight, None), shift, theta, along, STEPS, CURVATURE)
    response = (codes[kept], None, weight[kept], None)
    assert_same(found, kernel_of(reference, theta)(x[kept], response, shift, theta, along, STEPS, CURVATURE))
    if classes == 2:
        rows = sparse.csr_array(dirty)
        rows = (rows.data, rows.indices, rows.indptr)
        found = kernels.sparse_likelihood(rows, (codes, None, weight, None), theta, None, NOTHING, GRADIENT)
        expected = kernel_of(reference, theta)(x[kept], response, np.zeros(7), theta, None, NOTHING, GRADIENT)
        assert_same(found, expected)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@BACKENDS
@pytest.mark.parametrize("classes", [2, 3])
def test_a_row_with_nan_makes_the_sums_nan(backend, classes):
    x, response, shift, theta, _ = case(60, 7, classes)
    for row in (0, 31, 59):
        dirty = x.copy()
        dirty[row, 3] = np.nan
        loss, gradient, *_ = kernel_of(backend, theta)(dirty, response, shift, theta, None, NOTHING, GRADIENT)
        assert np.isnan(loss)
        assert np.isnan(gradient).any()


@BACKENDS
def test_predictors_of_800_neither_overflow_nor_lose_what_is_small(backend):
    eta = np.array([800.0, 800.0, -800.0, -800.0, 40.0, -40.0, 0.0])
    codes = np.array([1, 0, 0, 1, 1, 0, 1], np.int32)
    loss, gradient, hessian, _, least = backend.binary_likelihood(
        eta[:, None], (codes, None, None, None), np.zeros(1), np.array([0.0, 1.0]), None, NOTHING, CURVATURE
    )
    assert_allclose(loss, 1600 + 2 * np.exp(-40.0) + np.log(2), rtol=1e-14)
    assert_allclose(gradient, [-0.5, 1600 - 80 * np.exp(-40.0)], rtol=1e-14)
    assert_allclose(hessian[0, 0], 0.25 + 2 * np.exp(-40.0), rtol=1e-14)
    assert 0 <= least < 1e-300


@pytest.mark.parametrize(("sign", "code"), [(1.0, 1), (-1.0, 0)])
def test_a_nearly_certain_row_keeps_the_digits_of_its_gradient_and_curvature(sign, code):
    x, response = np.array([[sign * 40.0]]), (np.array([code], np.int32), None, None, None)
    theta = np.array([0.0, 1.0])
    loss, gradient, hessian, *_ = kernels.binary_likelihood(x, response, np.zeros(1), theta, None, NOTHING, CURVATURE)
    assert_allclose(loss, 0, atol=1e-14)
    assert_allclose(gradient[0], -sign * np.exp(-40.0), rtol=1e-13)
    assert_allclose(hessian[0, 0], np.exp(-40.0), rtol=1e-13)


@BACKENDS
@pytest.mark.parametrize("size", [800.0, 1e5])
def test_softmax_of_large_predictors_is_exact(backend, size):
    x = np.array([[size], [-size], [size]])
    theta = np.array([[0.0, 1.0], [0.0, -1.0], [0.0, 0.0]])
    codes = np.array([0, 1, 2], np.int32)
    loss, gradient, hessian, *_ = backend.softmax_likelihood(
        x, (codes, None, None, None), np.zeros(1), theta, None, NOTHING, CURVATURE
    )
    assert_allclose(loss, size)
    assert_allclose(gradient[:, 0], [1, 0, -1], atol=1e-300)
    assert_allclose(gradient[:, 1], [size, 0, -size])
    assert np.isfinite(hessian).all()


@BACKENDS
def test_a_common_shift_of_1e8_costs_no_digits(backend):
    x, response, _, theta, _ = case(64, 3)
    x = np.round(x * 8) / 8
    near = backend.binary_likelihood(x, response, np.zeros(3), theta, None, NOTHING, CURVATURE)
    far = backend.binary_likelihood(x + 1e8, response, np.full(3, 1e8), theta, None, NOTHING, CURVATURE)
    for a, b in zip(near, far, strict=True):
        assert_array_equal(a, b)


@BACKENDS
def test_the_smallest_curvature_is_that_of_a_row_with_weight(backend):
    x = np.array([[0.0], [3.0], [9.0]])
    weight = np.array([1.0, 2.0, 0.0])
    response = (np.zeros(3, np.int32), None, weight, None)
    theta = np.array([0.0, 1.0])
    least = backend.binary_likelihood(x, response, np.zeros(1), theta, None, NOTHING, LOSS)[4]
    mu = 1 / (1 + np.exp(-3.0))
    assert_allclose(least, 2 * mu * (1 - mu))
    nobody = (np.zeros(3, np.int32), None, np.zeros(3), None)
    assert backend.binary_likelihood(x, nobody, np.zeros(1), theta, None, NOTHING, LOSS)[4] == np.inf


def test_curvature_is_symmetric_to_the_last_bit():
    for classes in (2, 3, 9):
        hessian = ask(kernels, case(100, 9, classes), CURVATURE)[2]
        assert_array_equal(hessian, hessian.T)


@BACKENDS
@pytest.mark.parametrize("classes", [2, 3])
def test_wrong_arguments_are_refused_not_read(backend, classes):
    x, (codes, *_), shift, theta, along = case(6, 2, classes)
    likelihood = kernel_of(backend, theta)

    def call(x=x, codes=codes, share=None, weight=None, offset=None, shift=shift, theta=theta, along=along, depth=1):
        return likelihood(x, (codes, share, weight, offset), shift, theta, along, STEPS, depth)

    call()
    for name in ("share", "weight", "offset"):
        with pytest.raises(ValueError, match="differ in length"):
            call(**{name: np.ones(5)})
    for wrong, words in [
        ({"codes": codes[:5].copy()}, "codes and rows"),
        ({"shift": shift[:1].copy()}, "shift and columns"),
        ({"theta": np.ascontiguousarray(theta[..., :2])}, "theta has the wrong size"),
        ({"along": np.ascontiguousarray(along[..., :2])}, "along has the wrong size"),
        ({"theta": theta[None] if classes == 2 else theta[0].copy()}, "theta must be one row"),
        ({"depth": -1}, "depth"),
        ({"depth": 4}, "depth"),
    ]:
        with pytest.raises(ValueError, match=words):
            call(**wrong)
    if backend is reference or kernels.BACKEND != "native":
        return
    for wrong in ({"x": x.astype(int)}, {"x": x[0]}, {"codes": codes[:, None]}, {"weight": "heavy"}):
        with pytest.raises(TypeError):
            call(**wrong)


@BACKENDS
def test_codes_outside_the_classes_are_refused(backend):
    x, (codes, *_), shift, theta, _ = case(6, 2, 3)
    for bad in (3, -1):
        wrong = codes.copy()
        wrong[4] = bad
        with pytest.raises(ValueError, match="code"):
            backend.softmax_likelihood(x, (wrong, None, None, None), shift, theta, None, NOTHING, LOSS)


@BACKENDS
def test_wrong_compressed_rows_are_refused_not_read(backend):
    x, response, _, theta, _ = case(6, 2)
    rows = sparse.csr_array(x)
    data, indices, pointers = rows.data, rows.indices, rows.indptr

    def call(data=data, indices=indices, pointers=pointers, depth=GRADIENT, theta=theta):
        return backend.sparse_likelihood((data, indices, pointers), response, theta, None, NOTHING, depth)

    call()
    for wrong, words in [
        ({"indices": np.where(indices == 1, 2, indices).astype(np.int32)}, "outside the matrix"),
        ({"indices": np.where(indices == 1, -1, indices).astype(np.int32)}, "outside the matrix"),
        ({"pointers": pointers[::-1].copy()}, "must not fall"),
        ({"pointers": (pointers + 1).astype(np.int32)}, "leave the values"),
        ({"pointers": (pointers - 1).astype(np.int32)}, "leave the values"),
        ({"pointers": pointers[:0].copy()}, "no row pointer"),
        ({"data": data[:-1].copy()}, "differ in length"),
        ({"pointers": pointers[:-1].copy()}, "codes and rows"),
        ({"theta": np.empty(0)}, "intercept"),
        ({"depth": CURVATURE}, "no curvature"),
    ]:
        with pytest.raises(ValueError, match=words):
            call(**wrong)


@BACKENDS
@pytest.mark.parametrize("classes", [2, 3, 9])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_rows_of_weight_zero_count_for_nothing_whatever_they_hold(backend, classes, value):
    x, response, shift, theta, along = case(40, 5, classes)
    weight = np.where(np.arange(40) % 3 == 0, 0.0, 1.5)
    dirty, kept = x.copy(), weight > 0
    dirty[~kept, 2] = value
    for depth in (LOSS, GRADIENT, CURVATURE):
        found = ask(backend, (dirty, (response[0], None, weight, None), shift, theta, along), depth)
        rest = (x[kept], (response[0][kept], None, weight[kept], None), shift, theta, along)
        assert_same(found, ask(reference, rest, depth))
