"""Every function on three kinds of model: it draws, or says in a sentence what is missing."""

import warnings

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import discrim
from discrim import plots
from discrim.errors import DiscrimError

TAKES_ROWS = {
    "regions": {}, "borders": {}, "discriminants": {}, "projection": {}, "separation": {}, "ellipses": {},
    "effect": {"column": 0}, "residuals": {}, "half_space": {}, "voronoi": {}, "scheme": {}, "scores": {}, "steps": {},
    "feature_map": {}, "partial_residuals": {"column": 0}, "quantile_residuals": {},
}  # fmt: skip
TAKES_A_MODEL = ("coefficients", "surviving", "telling", "informative", "eigenvalues", "influence", "path", "tuning",
                 "convergence", "graph")  # fmt: skip
MODELS = {
    "a discriminant": discrim.LinearDiscriminantAnalysis,
    "naive Bayes": discrim.GaussianNB,
    "a logistic regression": discrim.LogisticRegression,
    "a perceptron": lambda: discrim.Perceptron(random_state=0),
    "centroids": lambda: discrim.NearestCentroid(shrink_threshold=0.5),
    "counts": discrim.MultinomialNB,
}
# Where it cannot be otherwise: which of these draw for two classes in two columns.
DRAWN = {
    "regions": 6, "borders": 6, "discriminants": 0, "projection": 6, "separation": 6, "ellipses": 6, "effect": 5,
    "residuals": 5, "half_space": 3, "voronoi": 0, "scheme": 0, "scores": 6, "steps": 1, "feature_map": 0,
    "coefficients": 3, "surviving": 1, "telling": 1, "informative": 0, "eigenvalues": 3, "influence": 1, "path": 0,
    "tuning": 0, "convergence": 1, "partial_residuals": 5, "quantile_residuals": 5, "graph": 3,
}  # fmt: skip


@pytest.fixture(scope="module")
def fitted(iris):
    X, y = iris[0][50:, 2:], iris[1][50:]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: make().fit(X, y) for name, make in MODELS.items()}, X, y


@pytest.mark.parametrize("name", [*TAKES_ROWS, *TAKES_A_MODEL])
def test_it_draws_or_says_what_is_missing(name, fitted):
    models, X, y = fitted
    drawn, said = [], []
    for kind, model in models.items():
        arguments = (model, X, y) if name in TAKES_ROWS else (model,)
        try:
            made = getattr(plots, name)(*arguments, **TAKES_ROWS.get(name, {}))
        except DiscrimError as error:
            said.append((kind, str(error)))
        else:
            assert isinstance(np.ravel(np.asarray(made, dtype=object))[0], Axes)
            drawn.append(kind)
    assert len(drawn) == DRAWN[name], (drawn, said)
    assert all(text.endswith(".") and len(text) > 30 for _, text in said), said


def test_every_function_has_a_test_of_this_kind_or_takes_no_model():
    others = {
        "points", "pairs", "styled", "roc", "precision_recall", "confusion", "calibration", "threshold_costs",
        "cost_curves", "rejection", "learning_curve", "compared", "penalties", "animate", "descent", "losses", "beta",
        "predictive", "dirichlet", "gaussians", "sphering", "lines", "feet", "downhill", "animate_descent", "titled",
        "side_by_side", "terms", "interaction",
    }  # fmt: skip
    assert set(plots.__all__) == others | set(TAKES_ROWS) | set(TAKES_A_MODEL)


@pytest.mark.parametrize("name", [name for name in TAKES_ROWS if name not in {"steps", "feature_map"}])
def test_it_draws_on_axes_that_are_given(name, fitted, iris):
    models, X, y = fitted
    model = models["a discriminant"]
    if name in {"discriminants", "voronoi", "scheme"}:
        X, y = iris[0][:, 2:], iris[1]
        model = discrim.LinearDiscriminantAnalysis()
        model = (discrim.OneVsRestClassifier(model) if name == "scheme" else model).fit(X, y)
    ax = Figure().subplots()
    assert getattr(plots, name)(model, X, y, ax=ax, **TAKES_ROWS[name]) is ax


def test_wrappers_are_drawn_by_their_own_answers(iris):
    model = discrim.OneVsRestClassifier(discrim.LeastSquaresClassifier(), rule="positive-only").fit(*iris)
    labels = [text.get_text() for text in model.plot(*iris).get_legend().texts]
    assert labels[-1] == "no class: ambiguous"
