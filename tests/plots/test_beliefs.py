"""Densities of probabilities and of classes."""

import numpy as np
import pytest
from scipy import stats

from discrim import plots
from discrim.errors import ParameterError


def test_beta_densities():
    ax = plots.beta({"prior": (2, 2), "after": (5, 19)}, level=0.9)
    for line, (a, b) in zip(ax.lines, [(2, 2), (5, 19)], strict=True):
        assert np.allclose(line.get_ydata(), stats.beta(a, b).pdf(line.get_xdata()))
    assert len(ax.collections) == 2
    shaded = ax.collections[1].get_paths()[0].vertices[:, 0]
    assert (shaded.min(), shaded.max()) == pytest.approx(stats.beta(5, 19).interval(0.9), abs=2e-3)


def test_predictive_bars_are_beta_binomial_and_binomial():
    bars = plots.predictive({"prior": (2, 2), "posterior": (5, 19), "plug-in": 0.15}, 10).patches
    heights = np.array([bar.get_height() for bar in bars]).reshape(3, 11)
    assert np.allclose(heights[0], stats.betabinom(10, 2, 2).pmf(range(11)))
    assert np.allclose(heights[2], stats.binom(10, 0.15).pmf(range(11)))
    assert np.round(heights[:, 0], 4).tolist() == [0.0385, 0.1418, 0.1969]


def test_dirichlet_densities_are_deepest_where_they_should_be():
    centre, corners = plots.dirichlet({"10": [10, 10, 10], "0.1": [0.1, 0.1, 0.1]})
    for ax, middle_is_deep in ((centre, True), (corners, False)):
        alpha = np.asarray(ax.images[0].get_array())[..., 3]
        rows, columns = np.nonzero(alpha == alpha.max())
        near = np.hypot(columns.mean() / alpha.shape[1] - 0.5, rows.mean() / alpha.shape[0] - 0.34) < 0.05
        assert near == middle_is_deep


def test_dirichlet_draws_are_probabilities():
    axes = plots.dirichlet([0.5] * 5, draws=3)
    assert axes.shape == (1, 3)
    assert sum(bar.get_height() for bar in axes[0, 1].patches) == pytest.approx(1.0)


def test_two_gaussians_have_their_borders_and_their_error():
    ax = plots.gaussians([-1, 1], [1, 1 / 3])
    assert ax.get_title(loc="left") == "Bayes error 0.0567"
    borders = [line.get_xdata()[0] for line in ax.lines[2:]]
    assert borders == pytest.approx(
        [(5 - np.sqrt(9 + 4 * np.log(3))) / 4, (5 + np.sqrt(9 + 4 * np.log(3))) / 4], abs=1e-4
    )
    assert plots.gaussians([-1, 1]).get_title(loc="left") == f"Bayes error {stats.norm.cdf(-1):.4f}"


def test_posteriors_stand_below():
    _, below = plots.gaussians([-1, 1], posterior=True)
    x, p = below.lines[2].get_data()  # the first is the border
    assert np.allclose(p, 1 / (1 + np.exp(-2 * x)))
    assert plots.gaussians([0, 1, 3], log=True).get_ylabel() == "log(prior x density)"


@pytest.mark.parametrize(
    ("draw", "text"),
    [
        (lambda: plots.beta((0, 1)), "no density"),
        (lambda: plots.beta([1, 2, 3]), r"\(a, b\)"),
        (lambda: plots.predictive((2, 2), 0), "at least 1"),
        (lambda: plots.predictive({"p": 1.5}), "from 0 to 1"),
        (lambda: plots.dirichlet([1, 1, 1, 1]), "Ask for draws instead"),
        (lambda: plots.dirichlet([1, -1, 1]), "numbers above 0"),
        (lambda: plots.gaussians([0, 1], [1, 0]), "above 0"),
        (lambda: plots.gaussians([0, 1], [1, 2, 3]), "2 deviations"),
        (lambda: plots.gaussians([0, 1], labels=["a"]), "1 label for 2 classes"),
    ],
)
def test_what_is_no_distribution_is_refused(draw, text):
    with pytest.raises(ParameterError, match=text):
        draw()
