"""The Laval lecture's descents: least squares, logistic regression, rates, SGD with 1/l, normalisation, streams."""

import numpy as np
import pytest

from discrim import LogisticRegression
from discrim.errors import UnfinishedWarning
from discrim.models.online.gradient_descent import GradientDescentClassifier

# Two rows, of which every step is computed by hand.
X, Y = np.array([[0.0], [1.0]]), np.array([0, 1])


def clouds(n=400, seed=0):
    """Two clouds that overlap."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    return rng.normal(size=(n, 2)) + np.outer(y, [1.5, -0.5]), y


def in_the_lecture(loss, eta, steps, x=X, y=Y, **options):
    """Columns as they are, and eta for the sum over the rows: here losses are means."""
    with pytest.warns(UnfinishedWarning):
        return GradientDescentClassifier(
            loss, scale=False, learning_rate="constant", eta0=eta * len(x), max_iter=steps, trace=True, **options
        ).fit(x, y)


def test_least_squares_step_by_step():
    trace = in_the_lecture("squared", 0.5, 3).trace_
    # e = (-1, 1):       w = 0 + 0.5 * 1,      b = 0 + 0.5 * 0
    # e = (-1, 0.5):     w = 0.5 + 0.5 * 0.5,  b = 0 - 0.5 * 0.5
    # e = (-0.75, 0.5):  w = 0.75 + 0.5 * 0.5, b = -0.25 - 0.5 * 0.25
    np.testing.assert_allclose(trace.coef[:, 0], [0, 0.5, 0.75, 1.0])
    np.testing.assert_allclose(trace.intercept, [0, 0, -0.25, -0.375])
    # Half the mean of e^2.
    np.testing.assert_allclose(trace.loss[:3], [0.5, 0.3125, 0.203125])


def test_logistic_regression_step_by_step():
    trace = in_the_lecture("cross_entropy", 1.0, 2).trace_
    y = 1 / (1 + np.exp(-0.5))
    # y = (0.5, 0.5): w = 0 + (1 - 0.5) * 1, b = 0 - 0.5 + 0.5;  y = (0.5, sigmoid(0.5)) after that.
    np.testing.assert_allclose(trace.coef[:, 0], [0, 0.5, 0.5 + (1 - y)])
    np.testing.assert_allclose(trace.intercept, [0, 0, -0.5 + (1 - y)])
    assert trace.loss[0] == pytest.approx(np.log(2))


def test_the_random_start_is_small_and_does_not_matter():
    x, y = clouds()
    begun = in_the_lecture("cross_entropy", 1e-3, 1, x, y, start="random", random_state=3).trace_
    assert 0 < np.abs(begun.coef[0]).max() <= 0.01
    assert 0 < abs(begun.intercept[0]) <= 0.01
    zero, drawn = (
        GradientDescentClassifier(start=start, random_state=3, tol=1e-9).fit(x, y) for start in ("zeros", "random")
    )
    np.testing.assert_allclose(zero.coef_, drawn.coef_, rtol=1e-6)


def test_least_squares_by_gradient_reaches_the_solution_of_the_normal_equations():
    x, y = clouds()
    model = GradientDescentClassifier("squared", learning_rate="optimal", tol=1e-10).fit(x, y)
    solved = np.linalg.lstsq(np.column_stack([np.ones(len(x)), x]), 2.0 * y - 1, rcond=None)[0]
    np.testing.assert_allclose([model.intercept_[0], *model.coef_[0]], solved, rtol=1e-7)


def test_batch_gradient_on_cross_entropy_reaches_the_optimum_of_logistic_regression():
    x, y = clouds()
    best = LogisticRegression(C=np.inf).fit(x, y)
    for rate in ("line_search", "optimal"):
        model = GradientDescentClassifier(learning_rate=rate, max_iter=5000).fit(x, y)
        losses = [
            -np.log(m.predict_proba(x)[np.arange(len(y)), y]).mean() for m in (model, best)
        ]  # fmt: skip
        assert abs(losses[0] - losses[1]) < 1e-8


@pytest.mark.filterwarnings("ignore::discrim.errors.UnfinishedWarning")
def test_a_rate_can_be_too_small_right_or_too_large():
    x, y = clouds()
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    largest = np.linalg.eigvalsh(np.cov(np.column_stack([np.ones(len(z)), z]).T, bias=True) + np.diag([1, 0, 0])).max()
    gaps = {}
    bottom = np.linalg.lstsq(np.column_stack([np.ones(len(x)), x]), 2.0 * y - 1, rcond=None)[1][0] / (2 * len(x))
    for name, factor in (("small", 0.01), ("right", 1.0), ("large", 2.05)):
        model = GradientDescentClassifier(
            "squared", learning_rate="constant", eta0=factor / largest, max_iter=60, tol=0.0, trace=True
        ).fit(x, y)
        gaps[name] = model.trace_.loss - bottom
    assert (np.diff(gaps["small"]) < 0).all()
    assert gaps["small"][-1] > 0.1 * gaps["small"][0]
    assert gaps["right"][-1] < 1e-6 * gaps["right"][0]
    assert gaps["large"][-1] > gaps["large"][0]


def test_columns_that_differ_in_size_diverge_unless_they_are_scaled():
    x, y = clouds()
    x = x * [1.0, 1000.0]
    with pytest.warns(UnfinishedWarning, match=r"diverged: the loss rose from 0.5 to .* Use a smaller eta0"):
        wild = GradientDescentClassifier("squared", scale=False, learning_rate="constant", eta0=0.1).fit(x, y)
    assert not wild.converged_
    assert np.isfinite(wild.coef_).all()
    calm = GradientDescentClassifier("squared").fit(x, y)
    assert calm.converged_


def test_stochastic_gradient_with_one_over_l_goes_to_the_least_squares_solution():
    rng = np.random.default_rng(4)
    y = rng.integers(2, size=2000)
    x = rng.normal(size=(2000, 2)) + 0.4 * np.outer(2 * y - 1, [1, -1])
    solved = np.linalg.lstsq(np.column_stack([np.ones(len(x)), x]), 2.0 * y - 1, rcond=None)[0]

    def distance(epochs):
        model = GradientDescentClassifier(
            "squared", batch_size=1, learning_rate="inverse", eta0=1.0, max_iter=epochs, scale=False, random_state=0
        )
        model.fit(x, y)
        return np.abs(np.append(model.intercept_, model.coef_) - solved).max()

    with pytest.warns(UnfinishedWarning):
        first = distance(1)
    last = distance(100)
    assert first < 0.1
    assert last < 0.2 * first
    assert last < 0.005


def test_a_stream_is_learned_by_steps_on_its_parts():
    x, y = clouds(4000, seed=5)
    model = GradientDescentClassifier(learning_rate="optimal")
    for start in range(0, len(x), 100):
        model.partial_fit(x[start : start + 100], y[start : start + 100], classes=[0, 1])
    assert model.n_iter_ == 40
    whole = LogisticRegression(C=np.inf).fit(x, y)
    assert abs(model.score(x, y) - whole.score(x, y)) < 0.01


def test_weights_of_length_one_give_the_same_kind_of_rule():
    x, y = clouds()
    model = GradientDescentClassifier("squared", normalize_weights=True, scale=False).fit(x, y)
    assert np.hypot(np.linalg.norm(model.coef_), model.intercept_[0]) == pytest.approx(1.0)
    assert model.score(x, y) > 0.75


def test_the_row_normalised_criterion_is_that_of_rows_with_these_weights():
    x, y = clouds()
    weight = 1 / (x**2).sum(axis=1)
    model = GradientDescentClassifier("squared", normalize_rows=True, scale=False, tol=1e-9).fit(x, y)
    design = np.column_stack([np.ones(len(x)), x]) * np.sqrt(weight)[:, None]
    solved = np.linalg.lstsq(design, (2.0 * y - 1) * np.sqrt(weight), rcond=None)[0]
    np.testing.assert_allclose([model.intercept_[0], *model.coef_[0]], solved, rtol=1e-6)


def test_outliers_on_the_right_side_draw_least_squares_and_not_logistic_regression():
    # Rows far away that are classified well: the lecture's strong influence.
    x = np.array([[-2.0], [-1.0], [-1.5], [1.0], [1.5], [2.0]])
    y = np.array([0, 0, 0, 1, 1, 1])
    far = np.vstack([x, [[60.0]] * 3]), np.append(y, [1, 1, 1])
    squared = GradientDescentClassifier("squared").fit(*far)
    hinge = GradientDescentClassifier("squared_hinge").fit(*far)
    assert squared.score(x, y) < 1
    assert hinge.score(x, y) == 1
