"""Every kind of rule and of answer gives the same in each form as in Python."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import discrim as d
from discrim.basis import (
    FourierBasis,
    JoinedBasis,
    PolynomialBasis,
    QuadraticBasis,
    RadialBasis,
    SplineBasis,
    StepBasis,
)
from discrim.decision import CostSensitiveClassifier, PriorShiftClassifier, RejectingClassifier, ThresholdClassifier
from discrim.decision.multiclass.one_vs_one import couple, pair_matrix
from discrim.errors import DiscrimWarning, ParameterError
from discrim.exports.coupling import coupled
from discrim.exports.program import Input, Program, const
from discrim.exports.python import python_of

FORMS = ("onnx", "python", "c", "duckdb", "sqlite")
LDA, QDA = d.LinearDiscriminantAnalysis, d.QuadraticDiscriminantAnalysis
LOG = d.LogisticRegression

# Of three classes of iris.
THREE = {
    "LDA": LDA(),
    "LDA with a class that cannot occur": LDA(priors=[0.0, 0.4, 0.6]),
    "QDA": QDA(),
    "Gaussian NB": d.GaussianNB(),
    "Student": d.BayesianQuadraticDiscriminantAnalysis(),
    "Student, linear": d.BayesianLinearDiscriminantAnalysis(),
    "centroids": d.NearestCentroid(),
    "centroids with priors": d.NearestCentroid(priors="empirical"),
    "shrunken centroids": d.NearestCentroid(rule="pamr", shrink_threshold=2.0),
    "medians": d.NearestCentroid(metric="manhattan"),
    "least squares": d.LeastSquaresClassifier(),
    "squares": d.LeastSquaresClassifier(basis="quadratic"),
    "lasso": d.LassoClassifier(),
    "ridge": d.RidgeClassifier(),
    "ridge with posteriors": d.RidgeClassifier(methods="all"),
    "logistic": LOG(),
    "SGD, hinge": d.SGDClassifier(random_state=0),
    "SGD, logistic": d.SGDClassifier(loss="log_loss", random_state=0),
    "SGD, clipped": d.SGDClassifier(loss="modified_huber", random_state=0),
    "descent, each": d.GradientDescentClassifier(multi_class="ovr"),
    "kernels": d.MixedNB(likelihoods={0: "kernel", 1: "student-t"}),
    "costs": CostSensitiveClassifier(LDA(), [[0, 5, 1], [5, 0, 1], [5, 5, 1]], ["a", "b", "look again"]),
    "rejection": RejectingClassifier(LDA(), reject_cost=0.1),
    "shifted": PriorShiftClassifier(LDA(), [0.2, 0.0, 0.8]),
    "shifted, from posteriors": PriorShiftClassifier(d.SGDClassifier(loss="log_loss", random_state=0), [0.2, 0.3, 0.5]),
    "one against rest": d.OneVsRestClassifier(LDA()),
    "one against rest, several models": d.OneVsRestClassifier(d.GaussianNB()),
    "positive only": d.OneVsRestClassifier(LDA(), rule="positive-only", ambiguous_label=("none", "several")),
    "all but last": d.OneVsRestClassifier(LDA(), rule="all-but-last"),
    "one against one": d.OneVsOneClassifier(LDA()),
    "one against one, several models": d.OneVsOneClassifier(QDA()),
    "scores of pairs": d.OneVsOneClassifier(d.RidgeClassifier(), rule="scores"),
    "all positive": d.OneVsOneClassifier(LDA(), rule="all-positive"),
    "majority": d.OneVsOneClassifier(d.Perceptron(), rule="majority"),
    "coupled pairs": d.OneVsOneClassifier(LDA(), methods="all"),
    "coupled pairs, several models": d.OneVsOneClassifier(QDA(), rule="majority", methods="all"),
    "rejection of coupled pairs": RejectingClassifier(d.OneVsOneClassifier(LDA(), methods="all"), reject_cost=0.1),
    "output codes": d.OutputCodeClassifier(LDA(), code="exhaustive"),
    "squares, LDA": make_pipeline(QuadraticBasis(), LDA()),
    "cubes": make_pipeline(StandardScaler(), PolynomialBasis(3, interaction_only=True), LOG()),
    "splines": make_pipeline(SplineBasis(), LOG()),
    "splines that go on": make_pipeline(SplineBasis(2, degree=2, extrapolation="continue"), LOG()),
    "splines that stay": make_pipeline(SplineBasis([3.0, 4.0], degree=1, extrapolation="constant"), LOG()),
    "steps": make_pipeline(JoinedBasis([None, StepBasis(), StepBasis(values="sign")]), LOG()),
    "bumps": make_pipeline(RadialBasis(5), LDA()),
    "bumps of columns": make_pipeline(RadialBasis(4, per_column=True), LOG()),
    "waves": make_pipeline(FourierBasis(10), LDA()),
}
# Of two of them.
TWO = {
    "logistic": LOG(),
    "threshold": ThresholdClassifier(LDA(), "sensitivity", target=0.9),
    "threshold of the first": ThresholdClassifier(LDA(), "sensitivity", target=0.9, positive="versicolor"),
    "threshold on scores": ThresholdClassifier(d.Perceptron(), "error"),
    "one against rest": d.OneVsRestClassifier(LDA()),
    "one against one": d.OneVsOneClassifier(LDA(), methods="all"),
    "clipped": d.SGDClassifier(loss="modified_huber", random_state=0),
}
COUNTS = {
    "Bernoulli": d.BernoulliNB(),
    "multinomial": d.MultinomialNB(),
    "complement": d.ComplementNB(norm=True),
    "multinomial without smoothing": d.MultinomialNB(alpha=0),
    "Bernoulli without smoothing": d.BernoulliNB(alpha=0),
    "categorical": d.CategoricalNB(),
    "mixed": d.MixedNB(likelihoods={0: "poisson", 1: "gamma-poisson", 2: "categorical"}, alpha=0.5),
    "mixed without smoothing": d.MixedNB(likelihoods={0: "poisson", 2: "categorical", 3: "categorical"}, alpha=0.0),
}


def in_all_forms(model, frame, forms, check, tmp_path, only=FORMS):
    for form in only:
        check(model, frame, forms[form](model, frame, tmp_path), X=frame.to_numpy())


@pytest.mark.parametrize("name", THREE)
def test_three_classes(name, iris, forms, check, tmp_path):
    X, y, frame = iris
    in_all_forms(THREE[name].fit(X, y), frame, forms, check, tmp_path)


@pytest.mark.parametrize("name", TWO)
def test_two_classes(name, iris, forms, check, tmp_path):
    X, y, frame = iris
    in_all_forms(TWO[name].fit(X[50:, :2], y[50:]), frame[["x0", "x1"]], forms, check, tmp_path)


def test_ten_classes_whose_pairs_are_coupled(forms, check, tmp_path):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(10), 20)
    # Some pairs are certain, to the last digit, others are not.
    x = rng.normal(size=(200, 5)) + np.repeat(
        rng.normal(size=(10, 5)) * np.geomspace(0.1, 300, 10)[:, None], 20, axis=0
    )
    model = d.OneVsOneClassifier(LDA(), methods="all").fit(x, y)
    frame = pd.DataFrame(x[::7], columns=[f"x{j}" for j in range(5)])
    in_all_forms(model, frame, forms, check, tmp_path)


@pytest.mark.parametrize("sure", [0.5, 0.9, 1.0])
def test_pairs_that_contradict_each_other_are_coupled(sure):
    size, least = 5, 1e-10
    around = np.array([sure if (j - i) % size <= size // 2 else 1.0 - sure for i, j in combinations(range(size), 2)])
    wanted = couple(pair_matrix(around[None], size), "wu-lin-weng", np.ones(size))[0]
    node = coupled(const(around), size, least)
    program = Program((Input("x"),), True, ("a",), const(0.0), const(0.0), tuple("abcde"), node)
    made = {}
    exec(python_of(program), made)
    np.testing.assert_allclose(made["predict_proba"]([1.0]), wanted, rtol=0, atol=1e-14)
    np.testing.assert_allclose(wanted, 0.2, atol=1e-12)


def test_posteriors_of_an_iteration_are_left_out_in_words(iris, forms, tmp_path):
    X, y, frame = iris
    model = d.OneVsOneClassifier(LDA(), methods="all", coupling="hastie-tibshirani").fit(X, y)
    for form in FORMS:
        with pytest.warns(DiscrimWarning, match="the labels alone are exported. Set coupling='wu-lin-weng'"):
            labels, posterior = forms[form](model, frame, tmp_path)
        assert labels == model.predict(frame.to_numpy()).tolist()
        assert posterior is None
    with pytest.warns(DiscrimWarning), pytest.raises(ParameterError, match="a model without posteriors"):
        RejectingClassifier(model, reject_cost=0.1).fit(X, y).to_python()


@pytest.fixture(scope="module")
def counts():
    x = np.random.default_rng(0).poisson(2, size=(120, 5)).astype(float)
    y = np.repeat([-3, 0, 7], 40)
    # Some columns never occur in a class.
    x[:40, 3] = x[40:80, 0] = 0
    return x, y, pd.DataFrame(np.random.default_rng(1).poisson(1.5, size=(50, 5)).astype(float), columns=list("vwxyz"))


@pytest.mark.parametrize("name", COUNTS)
def test_counts(name, counts, forms, check, tmp_path):
    x, y, frame = counts
    model = COUNTS[name].fit(pd.DataFrame(x, columns=list("vwxyz")), y)
    for form in FORMS:
        check(model, frame, forms[form](model, frame, tmp_path))


@pytest.mark.parametrize(
    "model",
    [
        QDA(reg_param=0.3),
        d.RegularizedDiscriminantAnalysis(alpha=0.5, gamma=0.5, target="diagonal"),
        d.BayesianQuadraticDiscriminantAnalysis(),
    ],
    ids=["projected", "low rank", "Student"],
)
def test_more_columns_than_rows(model, iris, forms, check, tmp_path):
    X, y, _ = iris
    rows = np.hstack([X[::5], np.random.default_rng(0).normal(size=(30, 80))])
    frame = pd.DataFrame(rows, columns=[f"x{j}" for j in range(84)])
    in_all_forms(model.fit(rows, y[::5]), frame, forms, check, tmp_path, only=("onnx", "python", "c", "duckdb"))


@pytest.mark.parametrize(
    "name", ["LDA", "QDA", "Student", "logistic", "kernels", "splines", "one against one", "coupled pairs"]
)
def test_single_precision(name, iris, in_onnx, check, tmp_path):
    X, y, frame = iris
    model = THREE[name].fit(X, y)
    check(model, frame, in_onnx(model, frame, tmp_path, dtype="float32"), tol=1e-5, X=frame.to_numpy())


POSTGRES = ("LDA", "QDA", "Student", "kernels", "rejection", "splines", "shifted", "positive only", "majority", "steps",
            "waves", "SGD, clipped", "coupled pairs", "coupled pairs, several models")  # fmt: skip


@pytest.mark.parametrize("name", POSTGRES)
def test_three_classes_in_postgres(name, iris, in_sql, check, postgres):
    X, y, frame = iris
    model = THREE[name].fit(X, y)
    check(model, frame, in_sql(model, frame, "postgres", postgres), X=frame.to_numpy())


@pytest.mark.parametrize("name", COUNTS)
def test_counts_in_postgres(name, counts, in_sql, check, postgres):
    x, y, frame = counts
    model = COUNTS[name].fit(pd.DataFrame(x, columns=list("vwxyz")), y)
    check(model, frame, in_sql(model, frame, "postgres", postgres))
