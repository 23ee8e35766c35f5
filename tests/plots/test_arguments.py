"""Whatever is passed in the place of an argument: the picture is drawn, or a sentence names the argument."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import discrim
from discrim import evaluation, plots
from discrim.errors import DiscrimError, ParameterError

STRANGE = (None, "nonsense", -1, 3.7, object(), [], np.array([np.nan, np.inf]), int)
# The loss is a function of the user's, whose own errors are shown as they are; path writes files.
THEIRS = {"loss", "path", "options"}


@pytest.fixture(scope="module")
def calls(iris):
    """Arguments that each function draws."""
    X, y = iris
    two = X[50:, 2:], y[50:]
    lda, several = (discrim.LinearDiscriminantAnalysis().fit(*rows) for rows in (two, (X, y)))
    logistic = discrim.LogisticRegression(C=np.inf).fit(*two)
    learner = discrim.RosenblattPerceptron(rule="batch", eta0=0.1, trace="step", max_iter=5).fit(*two)
    curve = discrim.roc(two[1], logistic.decision_function(two[0]))
    product = make_pipeline(PolynomialFeatures(interaction_only=True, include_bias=False), discrim.LogisticRegression())
    positive = two[1] == "virginica"
    own, with_rows = dict.fromkeys(("ellipses",), (lda,)), dict.fromkeys(
        ("regions", "projection", "separation", "half_space", "scores"), (lda, *two)
    )  # fmt: skip
    return own | with_rows | {
        "points": two, "pairs": (X, y), "sphering": two, "borders": ({"a": lda}, *two),
        "discriminants": (several, X, y),
        "effect": (logistic, *two, {"column": 0}), "residuals": (logistic, *two), "voronoi": (several, X, y),
        "scheme": (discrim.OneVsRestClassifier(discrim.LeastSquaresClassifier()).fit(X[:, :2], y), X[:, :2], y),
        "steps": (learner, *two), "partial_residuals": (logistic, *two, {"column": 0}), "coefficients": (logistic,),
        "quantile_residuals": (logistic, *two), "eigenvalues": (several,), "influence": (logistic,),
        "surviving": (discrim.NearestCentroid(shrink_threshold=0.5).fit(X, y),), "convergence": (learner,),
        "path": (discrim.logistic_path(*two),), "graph": (discrim.GaussianNB().fit(X, y),), "roc": (curve,),
        "precision_recall": (evaluation.precision_recall(positive, logistic.decision_function(two[0])),),
        "confusion": ([[3, 1], [0, 4]], ["a", "b"]), "threshold_costs": (curve,), "cost_curves": (curve,),
        "calibration": (evaluation.calibration(positive, logistic.predict_proba(two[0])[:, 1]),), "penalties": (),
        "descent": ([[1, 1], [0.5, 0.5]],), "losses": (), "beta": ((2, 2),), "predictive": ({"a": (2, 2)},),
        "dirichlet": ([2, 2, 2],), "gaussians": ([-1, 1],), "lines": ({"a": ([1, 2], [3, 4])},), "feet": (*two, (1, 1)),
        "downhill": ([3, 2, 1], np.square), "titled": (plots.points(two[0]), "t"), "side_by_side": (2,),
        "terms": (logistic, two[0]), "interaction": (logistic, two[0], {"columns": (0, 1)}), "styled": ("dark",),
        "feature_map": (product.fit(*two), *two), "informative": (discrim.MixedNB().fit(X, y),),
        "learning_curve": (evaluation.learning_curve(discrim.LinearDiscriminantAnalysis(), X, y),),
        "rejection": (discrim.decision.accuracy_rejection(two[1], logistic.predict_proba(two[0])),),
        "telling": (discrim.MultinomialNB().fit(X, y),), "animate": (learner, *two, "never.gif"),
        "animate_descent": ([3, 2, 1], np.square, "never.gif"), "compared": ({},),
        "tuning": (discrim.RegularizedDiscriminantAnalysis(alpha="cv", gamma=0.5, cv=3).fit(X, y),),
    }  # fmt: skip


# Drawing is not what is tested here: only arguments of which the picture is quick to make are tried one by one.
SLOW = {"pairs", "animate", "animate_descent", "compared", "scheme", "feature_map", "tuning", "sphering"}


@pytest.mark.parametrize("name", sorted(set(plots.__all__) - SLOW))
def test_strange_arguments_are_refused_in_a_sentence(name, calls):
    function = getattr(plots, name)
    given = calls[name]
    options = given[-1] if given and isinstance(given[-1], dict) and given[-1].keys() <= {"column", "columns"} else {}
    arguments = dict(zip(inspect.signature(function).parameters, given[: len(given) - bool(options)], strict=False))
    said = []
    for parameter in inspect.signature(function).parameters:
        for value in STRANGE if parameter not in THEIRS else ():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    function(**{**arguments, **options, parameter: value})
                except DiscrimError as error:
                    said.append(str(error))
    assert all(text.endswith(".") for text in said)


def test_flags_numbers_and_words_are_named_with_what_they_must_be(calls):
    with pytest.raises(ParameterError, match=r"'band' parameter is 'no'; it must be True or False\."):
        plots.roc(*calls["roc"], band="no")
    with pytest.raises(
        ParameterError, match=r"'level' parameter is 95; it must be a number between 0 and 1, such as 0"
    ):
        plots.coefficients(*calls["coefficients"], level=95)
    with pytest.raises(ParameterError, match=r"'shade' parameter is \['class'\]; it must be 'class' or 'posterior'\."):
        plots.regions(*calls["regions"], shade=["class"])
    with pytest.raises(ParameterError, match=r"'columns' parameter is 2\.5; it must be names or numbers of columns\."):
        plots.points(*calls["points"], columns=2.5)
    with pytest.raises(ParameterError, match=r"'model' parameter is None; it must be a fitted classifier\."):
        plots.regions(None, *calls["points"])
    with pytest.raises(ParameterError, match="'others' parameter is 'mean'; it must be 'hold' or 'marginal'"):
        plots.regions(*calls["regions"], others="mean")
    with pytest.raises(ParameterError, match="dict of name to 2 finite numbers"):
        plots.projection(*calls["projection"], directions={"w": [1, 2, 3]})
