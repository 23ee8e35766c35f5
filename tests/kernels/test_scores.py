"""The scoring kernel against its NumPy reference, and the reference against Gaussian densities."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax, softmax
from scipy.stats import multivariate_normal

from discrim import kernels
from discrim.kernels.gaussian import reference
from discrim.kernels.gaussian.reference import (
    BEST,
    DIAGONAL_RULE,
    LINEAR,
    LOG_POSTERIOR,
    POSTERIOR,
    QUADRATIC,
    SCORES,
)

BACKENDS = pytest.mark.parametrize("backend", [kernels, reference], ids=["kernel", "reference"])
RULES = ["linear", "diagonal", "triangular", "low rank"]


def rule_of(name, p, classes, seed=0):
    """Arguments of ``score`` between x and output."""
    rng = np.random.default_rng(seed)
    offset, centre = rng.normal(size=classes), rng.normal(size=(classes, p))
    if name == "linear":
        return LINEAR, centre[0], rng.normal(size=(classes, p)), offset, False
    if name == "diagonal":
        return DIAGONAL_RULE, centre, rng.uniform(0.1, 2.0, (classes, p)), offset, False
    if name == "triangular":
        return QUADRATIC, centre, np.tril(rng.normal(size=(classes, p, p))), offset, True
    return QUADRATIC, centre, rng.normal(size=(classes, 3, p)), offset, False


def run(backend, x, rule, output, dtype=np.float64):
    out = np.full(len(x), -1, np.int64) if output == BEST else np.full((len(x), len(rule[3])), np.nan, dtype)
    return backend.score(x, *rule, output, out), out


def scores_only(scores, output, backend=kernels):
    """The output when the scores are these."""
    scores = np.asarray(scores, dtype=np.float64)
    classes = scores.shape[1]
    return run(backend, scores, (LINEAR, np.zeros(classes), np.eye(classes), np.zeros(classes), False), output)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("output", [SCORES, BEST, POSTERIOR, LOG_POSTERIOR])
def test_every_rule_and_output_is_that_of_the_reference(name, output):
    rng = np.random.default_rng(1)
    for n, p, classes in [(1, 1, 1), (15, 3, 2), (16, 4, 3), (17, 5, 4), (33, 9, 5), (50, 17, 12), (2, 0, 3)]:
        x, rule = rng.normal(size=(n, p)), rule_of(name, p, classes)
        for layout in (
            np.ascontiguousarray,
            np.asfortranarray,
            lambda a: np.repeat(a[::-1], 2, axis=1)[::-1, ::2],
        ):
            finite, found = run(kernels, layout(x), rule, output)
            assert finite
            np.testing.assert_allclose(found, run(reference, x, rule, output)[1], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_float32_rows_are_scored_in_double_precision(name, dtype):
    x, rule = np.random.default_rng(2).normal(size=(37, 6)).astype(np.float32), rule_of(name, 6, 3)
    _, found = run(kernels, x, rule, POSTERIOR, dtype)
    _, expected = run(kernels, x.astype(np.float64), rule, POSTERIOR)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, rtol=float(np.finfo(dtype).eps), atol=1e-30)


@BACKENDS
def test_scores_are_gaussian_log_densities(backend):
    rng = np.random.default_rng(3)
    x, mean = rng.normal(size=(20, 4)), rng.normal(size=(3, 4))
    roots = [rng.normal(size=(4, 4)) + 3 * np.eye(4) for _ in range(3)]
    sigma = [root @ root.T for root in roots]
    expected = np.column_stack([multivariate_normal(m, s).logpdf(x) for m, s in zip(mean, sigma, strict=True)])
    lower = np.stack([np.linalg.inv(np.linalg.cholesky(s)) for s in sigma])
    offset = np.array([-0.5 * np.linalg.slogdet(2 * np.pi * s)[1] for s in sigma])
    _, found = run(backend, x, (QUADRATIC, mean, lower, offset, True), SCORES)
    np.testing.assert_allclose(found, expected, rtol=1e-11)
    variance = rng.uniform(0.5, 2.0, (3, 4))
    expected = np.column_stack(
        [multivariate_normal(m, np.diag(v)).logpdf(x) for m, v in zip(mean, variance, strict=True)]
    )
    offset = -0.5 * np.log(2 * np.pi * variance).sum(axis=1)
    _, found = run(backend, x, (DIAGONAL_RULE, mean, 1 / variance, offset, False), SCORES)
    np.testing.assert_allclose(found, expected, rtol=1e-11)


@BACKENDS
def test_a_linear_score_is_offset_plus_coefficients_times_distance_from_the_centre(backend):
    rng = np.random.default_rng(4)
    x, (_, centre, coef, offset, _) = rng.normal(size=(19, 7)), rule_of("linear", 7, 5)
    _, found = run(backend, x, (LINEAR, centre, coef, offset, False), SCORES)
    expected = [[offset[k] + sum(coef[k] * (row - centre)) for k in range(5)] for row in x]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@BACKENDS
def test_a_common_offset_of_1e8_costs_no_digits_of_a_linear_score(backend):
    x, (rule, _, coef, offset, _) = np.arange(40.0).reshape(10, 4), rule_of("linear", 4, 3)
    plain = run(backend, x, (rule, np.zeros(4), coef, offset, False), SCORES)[1]
    far = run(backend, x + 1e8, (rule, np.full(4, 1e8), coef, offset, False), SCORES)[1]
    np.testing.assert_array_equal(far, plain)


@BACKENDS
def test_of_equal_scores_the_first_class_is_best(backend):
    scores = [[1, 2, 2, 2], [3, 3, 3, 3], [0, -1, 0, 0], [-1, -1, 5, 5]] * 9
    _, best = scores_only(scores, BEST, backend)
    assert best.tolist() == [1, 0, 0, 2] * 9


@BACKENDS
def test_a_class_of_prior_zero_gets_posterior_zero_and_is_never_best(backend):
    rule = (LINEAR, np.zeros(2), np.zeros((3, 2)), np.array([-np.inf, 1.0, 1.0]), False)
    x = np.ones((18, 2))
    finite, posterior = run(backend, x, rule, POSTERIOR)
    assert finite
    np.testing.assert_array_equal(posterior, np.tile([0.0, 0.5, 0.5], (18, 1)))
    assert run(backend, x, rule, LOG_POSTERIOR)[1][0].tolist() == [-np.inf, -np.log(2), -np.log(2)]
    assert set(run(backend, x, rule, BEST)[1].tolist()) == {1}


@BACKENDS
@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("output", [SCORES, BEST, POSTERIOR, LOG_POSTERIOR])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_row_that_is_not_finite_is_reported(backend, name, output, value):
    rule = rule_of(name, 5, 3)
    for place in (0, 16, 18):
        for column in range(5):
            x = np.zeros((19, 5))
            assert run(backend, x, rule, output)[0]
            x[place, column] = value
            assert not run(backend, x, rule, output)[0]


def test_posteriors_sum_to_one():
    scores = np.random.default_rng(5).normal(size=(1000, 7)) * 30
    _, posterior = scores_only(scores, POSTERIOR)
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0, rtol=1e-15 * 7)
    np.testing.assert_allclose(posterior, softmax(scores, axis=1), rtol=1e-13)


def test_log_posteriors_are_the_logarithms_of_the_posteriors():
    scores = np.random.default_rng(6).normal(size=(1000, 4)) * 50
    posterior, logarithm = scores_only(scores, POSTERIOR)[1], scores_only(scores, LOG_POSTERIOR)[1]
    np.testing.assert_allclose(logarithm, log_softmax(scores, axis=1), rtol=1e-13, atol=1e-15)
    seen = posterior > 1e-250
    np.testing.assert_allclose(np.log(posterior[seen]), logarithm[seen], rtol=1e-12, atol=1e-14)


@BACKENDS
def test_in_single_precision_the_logarithm_of_a_certain_class_is_zero(backend):
    rule = (LINEAR, np.zeros(2), np.eye(2), np.zeros(2), False)
    x = np.array([[20.0, 0.0], [3.0, 0.0]], np.float32)
    logarithm = run(backend, x, rule, LOG_POSTERIOR, np.float32)[1]
    posterior = run(backend, x, rule, POSTERIOR, np.float32)[1]
    assert posterior[0, 0] == 1.0
    assert logarithm[0, 0] == 0.0
    np.testing.assert_allclose(logarithm[1], log_softmax([3.0, 0.0]), rtol=1e-6)


@BACKENDS
def test_log_posteriors_are_right_where_the_posterior_underflows(backend):
    scores = np.array([[0.0, -1e4, 1e4], [1e4, 1e4, -1e4], [-3e4, -1e4, -1e4 - 1]])
    _, logarithm = scores_only(scores, LOG_POSTERIOR, backend)
    last = np.log1p(np.exp(-1.0))
    expected = [[-1e4, -2e4, 0], [-np.log(2), -np.log(2), -2e4 - np.log(2)], [-2e4 - last, -last, -1 - last]]
    np.testing.assert_allclose(logarithm, expected, rtol=1e-15)
    assert scores_only(scores, POSTERIOR, backend)[1][0].tolist() == [0, 0, 1]


def test_the_exponential_is_right_to_two_units_in_the_last_place():
    t = np.concatenate([[0.0], -np.logspace(-300, np.log10(706.9), 20_000), -np.linspace(0, 706.9, 20_000)])
    # With scores 0 and t twice over, P_2 / P_1 = exp(t), and the division is by the same total.
    _, posterior = scores_only(np.column_stack([np.zeros_like(t), t]), POSTERIOR)
    ratio = posterior[:, 1] / posterior[:, 0]
    precise = np.exp(t.astype(np.longdouble))
    # P_1 and P_2 are each rounded once after exp was, and so is the ratio taken here.
    units = np.abs((ratio.astype(np.longdouble) - precise) / precise) / np.finfo(float).eps
    assert units.max() < 2.5


@BACKENDS
def test_wrong_arguments_are_refused_not_read(backend):
    x, out, centre = np.zeros((3, 2)), np.zeros((3, 2)), np.zeros(2)
    factor, offset, best = np.zeros((2, 2)), np.zeros(2), np.zeros(3, np.int64)
    score = backend.score
    with pytest.raises(ValueError, match="factor"):
        score(x, LINEAR, centre, factor[:1], offset, False, SCORES, out)
    with pytest.raises(ValueError, match="factor must be classes x rank x columns"):
        score(x, QUADRATIC, factor, np.zeros(4), offset, False, SCORES, out)
    with pytest.raises(ValueError, match="centre"):
        score(x, LINEAR, centre[:1], factor, offset, False, SCORES, out)
    with pytest.raises(ValueError, match="out has the wrong shape"):
        score(x, LINEAR, centre, factor, offset, False, SCORES, out[:2])
    with pytest.raises(ValueError, match="out has the wrong length"):
        score(x, LINEAR, centre, factor, offset, False, BEST, best[:2])
    with pytest.raises(ValueError, match="unknown rule"):
        score(x, 3, centre, factor, offset, False, SCORES, out)
    with pytest.raises(ValueError, match="unknown output"):
        score(x, LINEAR, centre, factor, offset, False, BEST, out)
    with pytest.raises(ValueError, match="no class"):
        score(x, LINEAR, centre, factor[:0], offset[:0], False, BEST, best)
    if backend is kernels and kernels.BACKEND == "native":
        with pytest.raises(TypeError):
            score(x, LINEAR, centre, factor, offset, False, BEST, best.astype(np.int32))
