"""Newton's full steps in one call: the kernel against NumPy, and against the slopes at the minimum."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from discrim import kernels
from discrim.kernels.logistic import reference_likelihood as reference

pytestmark = pytest.mark.skipif(
    kernels.binary_newton is reference.binary_newton, reason="without compiled kernels there is no such call"
)
LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "every other column": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "backwards": lambda a: np.ascontiguousarray(a[::-1, ::-1])[::-1, ::-1],
    "float32": lambda a: a.astype(np.float32),
}
ENOUGH = 1e-9
# The part of the gap by which a Newton step must lower the value.
LEAST_PART = 1e-4
# A pivot below this, for columns of length one, has lost its digits.
LEAST_PIVOT = 1e-7


def case(n=300, p=4, extra="plain", seed=0):
    """x, response and shift; the labels are half noise, so that the classes overlap."""
    rng = np.random.default_rng([seed, n, p])
    x = rng.normal(size=(n, p)) * 2 + 1
    codes = (0.3 * x.sum(axis=1) / np.sqrt(p + 1) + rng.logistic(size=n) > 0).astype(np.int32)
    weight = rng.uniform(0.2, 3, n) * (rng.random(n) > 0.2) if extra in {"weight", "all"} else None
    share = rng.random(n) if extra in {"share", "all"} else None
    offset = rng.normal(size=n) if extra in {"offset", "all"} else None
    return x, (codes, share, weight, offset), rng.normal(size=p)


def newton_by_reference(x, response, shift, theta, ridge, held, enough, most):
    """What the kernel must equal."""
    free = np.arange(int(held), len(theta))

    def look(theta):
        sums = reference.binary_likelihood(x, response, shift, theta, None, np.empty(0), reference.CURVATURE)
        value = sums[0] + 0.5 * float(np.sum(ridge * theta * theta))
        slope = (sums[1] + ridge * theta)[free]
        solved = _solve_positive(sums[2][np.ix_(free, free)] + np.diag(ridge[free]), slope)
        if solved is None or not np.isfinite(value):
            return sums, value, None, 0.0
        step = np.zeros(len(theta))
        step[free] = -solved
        return sums, value, step, 0.5 * float(slope @ solved)

    sums, value, step, gap = look(theta)
    for steps in range(1, most + 1):
        if step is None:
            return None
        theta, before, fall = theta + step, value, gap
        if fall <= enough:
            return theta, before, fall, steps, sums
        sums, value, step, gap = look(theta)
        if not value <= before - LEAST_PART * fall:
            return None
    return None


def _solve_positive(matrix, right):
    """M^-1 b; None where M is not positive definite as far as the digits show."""
    diagonal = np.diagonal(matrix)
    scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    if not np.isfinite(matrix).all():
        return None
    try:
        lower = np.linalg.cholesky(matrix / scale[:, None] / scale)
    except np.linalg.LinAlgError:
        return None
    if np.diagonal(lower).min(initial=1.0) <= LEAST_PIVOT:
        return None
    return np.asarray(np.linalg.solve(lower.T, np.linalg.solve(lower, right / scale))) / scale


def solve(x, response, shift, *, ridge=0.5, held=False, most=50, start=None, newton=kernels.binary_newton):
    size = x.shape[1] + 1
    start = np.zeros(size) if start is None else start
    return newton(x, response, shift, start, np.full(size, ridge), held, ENOUGH, most)


@pytest.mark.parametrize("held", [False, True], ids=["free", "held"])
@pytest.mark.parametrize("extra", ["plain", "weight", "share", "offset", "all"])
@pytest.mark.parametrize("p", [0, 1, 3, 7, 8, 9, 33])
def test_the_kernel_goes_where_the_reference_goes(p, extra, held):
    given = case(p=p, extra=extra)
    theta, value, gap, steps, sums = solve(*given, held=held)
    expected = solve(*given, held=held, newton=newton_by_reference)
    assert steps == expected[3]
    assert_allclose(theta, expected[0], rtol=1e-10, atol=1e-12)
    assert_allclose(value, expected[1], rtol=1e-12)
    assert_allclose(gap, expected[2], rtol=1e-5, atol=1e-15)
    for found, wanted in zip(sums, expected[4], strict=True):
        assert_allclose(found, wanted, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("held", [False, True], ids=["free", "held"])
def test_the_slopes_vanish_at_the_end_and_the_sums_are_those_before_the_last_step(held):
    x, response, shift = case(extra="all")
    start = np.array([0.3, 0, 0, 0, 0.0])
    theta, value, gap, _, sums = solve(x, response, shift, held=held, start=start)
    nothing = np.empty(0)
    at = reference.binary_likelihood(x, response, shift, theta, None, nothing, 1)
    slope = at[1] + 0.5 * theta
    assert np.abs(slope[int(held) :]).max() < 1e-6
    assert not held or (theta[0] == 0.3 and abs(slope[0]) > 1)
    assert 0 <= gap <= ENOUGH
    assert_allclose(at[0] + 0.25 * theta @ theta, value - gap, rtol=1e-13)
    free = slice(int(held), None)
    step = np.linalg.solve(sums[2][free, free] + 0.5 * np.eye(5 - held), sums[1][free] + 0.5 * theta[free])
    # The gradient before the last step is about the curvature times that step.
    assert np.abs(step).max() < 1e-3


@pytest.mark.parametrize("layout", LAYOUTS)
def test_rows_may_lie_as_they_like(layout):
    x, response, shift = case(p=9)
    x = x.astype(np.float32).astype(float)
    found, expected = solve(LAYOUTS[layout](x), response, shift), solve(x, response, shift)
    assert_allclose(found[0], expected[0], rtol=1e-12)
    assert found[3] == expected[3]


def test_rows_without_weight_may_hold_anything():
    x, (codes, _, weight, _), shift = case(extra="weight")
    expected = solve(x, (codes, None, weight, None), shift)
    x[weight == 0] = np.nan
    found = solve(x, (codes, None, weight, None), shift)
    assert (weight == 0).any()
    assert_array_equal(found[0], expected[0])


def test_whatever_is_unusual_is_left_to_others():
    x, response, shift = case()
    rng = np.random.default_rng(1)
    twice = np.column_stack([x, x[:, 0]])
    hole = x.copy()
    hole[7, 2] = np.nan
    assert solve(twice, response, np.append(shift, shift[0]), ridge=0.0) is None
    assert solve(hole, response, shift) is None
    assert solve(x, response, shift, start=rng.normal(size=5) * 30) is None
    assert solve(x, response, shift, most=0) is None
    assert solve(x, response, shift, most=2) is None


def test_the_start_stays_as_it_was():
    start = np.full(5, 0.1)
    solve(*case(), start=start)
    assert_array_equal(start, 0.1)


def test_parts_that_do_not_fit_are_refused():
    x, response, shift = case()
    with pytest.raises(ValueError, match="shift and columns"):
        solve(x, response, shift[:2])
    with pytest.raises(ValueError, match="ridge and theta"):
        kernels.binary_newton(x, response, shift, np.zeros(5), np.zeros(4), False, ENOUGH, 5)
    with pytest.raises(ValueError, match="theta has the wrong size"):
        kernels.binary_newton(x, response, shift, np.zeros(6), np.zeros(6), False, ENOUGH, 5)
