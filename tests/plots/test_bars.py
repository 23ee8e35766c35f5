"""Coefficients, surviving columns, telling words; and what ``plot`` of each model draws."""

import numpy as np
import pytest

import discrim
from discrim import plots
from discrim.errors import ParameterError


def test_the_forest_has_the_intervals_of_confint(logistic, two_irises):
    ax = plots.coefficients(logistic)
    ends = np.array([segment[:, 0] for segment in ax.collections[0].get_segments()])
    names = [label.get_text() for label in ax.get_yticklabels()]
    order = [int(name[1:]) + 1 for name in names]
    assert np.allclose(ends, np.asarray(logistic.confint())[order])
    scaled = plots.coefficients(logistic, two_irises[0])
    values = scaled.lines[0].get_xdata()
    columns = [int(label.get_text()[1:]) for label in scaled.get_yticklabels()]
    assert np.allclose(values, (logistic.coef_[0] * two_irises[0].std(axis=0))[columns])


def test_of_many_columns_those_that_matter_most_are_drawn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 60))
    y = (X[:, 7] + rng.normal(size=200) > 0).astype(int)
    ax = plots.coefficients(discrim.LogisticRegression().fit(X, y))
    assert ax.get_yticklabels()[0].get_text() == "x7"
    assert "20 of 60 columns" in ax.texts[-1].get_text()


def test_infinite_estimates_are_left_out_and_counted(iris):
    with pytest.warns(discrim.errors.SeparationWarning):
        model = discrim.LogisticRegression(C=np.inf).fit(iris[0][:100], iris[1][:100])
    with pytest.raises(ParameterError, match="infinite"):
        plots.coefficients(model)


def test_columns_that_are_left(iris):
    model = discrim.NearestCentroid(shrink_threshold=5.0).fit(*iris)
    ax = plots.surviving(model)
    assert len(ax.get_yticklabels()) == model.support_.sum()
    with pytest.raises(ParameterError, match="deviations_"):
        plots.surviving(discrim.GaussianNB().fit(*iris))


MODELS = {
    "LinearDiscriminantAnalysis": "LD1",
    "QuadraticDiscriminantAnalysis": "LD1",
    "RegularizedDiscriminantAnalysis": "LD1",
    "GaussianNB": "LD1",
    "BayesianQuadraticDiscriminantAnalysis": "LD1",
    "NearestCentroid": "LD1",
    "LogisticRegression": "coefficient",
    "LeastSquaresClassifier": "coefficient",
    "RidgeClassifier": "coefficient",
    "LassoClassifier": "coefficient",
    "SGDClassifier": "coefficient",
    "Perceptron": "coefficient",
    "GradientDescentClassifier": "coefficient",
    "MultinomialNB": "log odds",
    "BernoulliNB": "log odds",
    "MixedNB": "bits",
    "CategoricalNB": "bits",
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore")
def test_every_model_has_its_picture(iris, name):
    X, y = iris
    X = (X.mean(axis=0) < X).astype(float) if name == "BernoulliNB" else X
    model = getattr(discrim, name)().fit(X, y)
    assert model.plot().get_xlabel().startswith(MODELS[name])
    assert model.plot(X, y, style="dark").get_xlabel().startswith(MODELS[name])


@pytest.mark.filterwarnings("ignore::discrim.errors.NotSeparatedWarning", "ignore::discrim.errors.UnfinishedWarning")
def test_learners_with_a_trace_draw_their_way(iris):
    X, y = iris[0][:100, :2], iris[1][:100]
    model = discrim.RosenblattPerceptron(rule="batch", trace="step").fit(X, y)
    assert len(model.plot(X, y)) == 6
    assert model.plot().get_ylabel() == "rows on the wrong side"
    descent = discrim.GradientDescentClassifier(trace=True, max_iter=20, tol=0.5).fit(X, y)
    assert descent.plot().get_ylabel() == "loss"


def test_words_keep_their_names():
    texts = ["cheap pills", "pills for you", "see you at noon", "lunch at noon"] * 3
    ax = discrim.TextClassifier().fit(texts, ["spam", "spam", "ham", "ham"] * 3).plot()
    assert "noon" in [label.get_text() for label in ax.get_yticklabels()]


def test_a_model_that_is_not_fitted_says_so():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        discrim.LinearDiscriminantAnalysis().plot()


def test_the_forest_says_what_a_coefficient_above_zero_speaks_for(iris):
    X, y = iris
    two = discrim.LogisticRegression(C=1).fit(X[50:], y[50:])
    several = discrim.LogisticRegression(C=1).fit(X, y)
    ridge = discrim.RidgeClassifier().fit(X, y)
    notes = [plots.coefficients(model).texts[-1].get_text() for model in (two, several, ridge)]
    assert notes == ["above 0: for virginica", "each class against setosa", "each class against the others"]
    rng = np.random.default_rng(0)
    many = discrim.RidgeClassifier().fit(rng.normal(size=(70, 3)), np.repeat(list("abcdefg"), 10))
    assert "drawn: 6 of 7 classes" in plots.coefficients(many).texts[-1].get_text().replace("\n", " ")
