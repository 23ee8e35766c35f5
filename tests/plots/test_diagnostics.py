"""Terms of columns, partial and quantile residuals, interactions."""

import numpy as np
import pytest
from scipy import special, stats
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import discrim
from discrim import plots
from discrim.errors import ParameterError


def test_terms_are_lines_with_the_slopes_of_the_coefficients(two_irises):
    X, y = two_irises
    model = discrim.LogisticRegression().fit(X, y)
    ax = plots.terms(model, X, columns=[0, 1, 2, 3])
    for j, line in enumerate(ax.lines[1:]):
        x, height = line.get_data()
        assert np.allclose(height, model.coef_[0, j] * X[:, j].std() * x)


def test_terms_of_naive_bayes_sum_to_its_log_odds(two_irises):
    X, y = two_irises
    model = discrim.GaussianNB().fit(X, y)
    ax = plots.terms(model, X, columns=range(4))
    z = (X[7] - X.mean(axis=0)) / X.std(axis=0)
    total = sum(np.interp(z[j], *line.get_data()) for j, line in enumerate(ax.lines[1:]))
    odds = np.diff(model.predict_log_proba(np.array([X.mean(axis=0), X[7]])), axis=1)[:, 0]
    assert total == pytest.approx(odds[1] - odds[0], abs=0.02)


def test_partial_residuals_show_a_missing_square():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (3000, 2))
    y = (rng.uniform(size=3000) < special.expit(X[:, 0] ** 2 - 1.5)).astype(int)
    model = discrim.LogisticRegression(C=np.inf).fit(X, y)

    def bow(column):
        squares = np.array([line.get_xydata()[0] for line in plots.partial_residuals(
            model, X, y, column=column).lines if line.get_marker() == "s"])  # fmt: skip
        return np.polyfit(*squares.T, 2)[0]

    assert bow(0) == pytest.approx(1.0, abs=0.3)
    assert abs(bow(1)) < 0.15


def test_quantile_residuals_are_normal_where_the_probabilities_are_right():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 1))
    y = rng.uniform(size=2000) < special.expit(X[:, 0])
    right = discrim.LogisticRegression(C=np.inf).fit(X, y)
    wrong = discrim.LogisticRegression(C=np.inf).fit(6 * X, y)
    found = [float(plots.quantile_residuals(right, scale * X, y).texts[-1].get_text().split("p = ")[1][:5])
             for scale in (1.0, 8.0)]  # fmt: skip
    assert found[0] > 0.05
    assert found[1] < 0.01
    assert plots.quantile_residuals(wrong, 6 * X, y).lines


def test_quantile_residuals_of_several_classes(iris, lda):
    residual = plots.quantile_residuals(lda, *iris).lines[-1].get_ydata()
    assert len(residual) == 150
    assert stats.kstest(residual, "norm").pvalue > 0.01


def test_curves_are_parallel_without_an_interaction_and_are_not_with_one(two_irises):
    X, y = two_irises[0][:, 2:], two_irises[1]
    plain = discrim.LogisticRegression().fit(X, y)
    product = PolynomialFeatures(interaction_only=True, include_bias=False)
    crossed = make_pipeline(product, discrim.LogisticRegression(C=100.0)).fit(X, y)
    for model, parallel in ((plain, True), (crossed, False)):
        lines = plots.interaction(model, X, columns=(0, 1), scale="link").lines
        assert len(lines) == 3
        gap = lines[2].get_ydata() - lines[0].get_ydata()
        assert (np.ptp(gap) < 1e-6) == parallel


def test_what_cannot_be_drawn_is_refused_in_words(iris, lda, two_irises):
    with pytest.raises(ParameterError, match="Terms of log odds are drawn for two classes"):
        plots.terms(lda, iris[0])
    qda = discrim.QuadraticDiscriminantAnalysis().fit(*two_irises)
    with pytest.raises(ParameterError, match="has no terms of its columns"):
        plots.terms(qda, two_irises[0])
    model = discrim.LogisticRegression().fit(*two_irises)
    with pytest.raises(ParameterError, match="say column="):
        plots.partial_residuals(model, *two_irises)
    with pytest.raises(ParameterError, match="two different columns"):
        plots.interaction(model, two_irises[0], columns=(1, 1))
    with pytest.raises(ParameterError, match="need labels"):
        plots.quantile_residuals(model, two_irises[0], None)
