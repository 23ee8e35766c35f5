"""Fitted estimators of scikit-learn with the answers of ours."""

import numpy as np
import pytest
from sklearn.base import clone

import discrim as d
from discrim.errors import DiscrimError

SAME = [
    d.LinearDiscriminantAnalysis(), d.QuadraticDiscriminantAnalysis(), d.GaussianNB(), d.NearestCentroid(),
    d.RidgeClassifier(), d.LogisticRegression(), d.SGDClassifier(loss="log_loss", random_state=0),
    d.Perceptron(random_state=0), d.PassiveAggressiveClassifier(random_state=0),
    d.OneVsRestClassifier(d.LinearDiscriminantAnalysis()), d.OneVsOneClassifier(d.LogisticRegression()),
    d.OutputCodeClassifier(d.LogisticRegression(), random_state=0),
]  # fmt: skip
COUNTS = [d.BernoulliNB(), d.MultinomialNB(), d.ComplementNB(), d.CategoricalNB()]


def same(model, X):
    made = model.to_sklearn()
    assert type(made).__module__.startswith("sklearn.")
    assert type(made).__name__ == type(model).__name__
    assert made.predict(X).tolist() == model.predict(X).tolist()
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(made.predict_proba(X), model.predict_proba(X), atol=1e-12)
    return made


@pytest.mark.parametrize("model", SAME, ids=str)
@pytest.mark.parametrize("first", [0, 50], ids=["three classes", "two classes"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_namesake_of_scikit_learn(model, first):
    X, y = d.datasets.load_iris().xy
    made = same(clone(model).fit(X[first:], y[first:]), X[first:])
    assert all(not type(value).__module__.startswith("discrim.") for value in vars(made).values())


@pytest.mark.parametrize("model", COUNTS, ids=str)
def test_counts(model):
    x = np.random.default_rng(0).poisson(1.0, size=(90, 6))
    same(model.fit(x, np.repeat(["a", "b", "c"], 30)), x)


@pytest.mark.filterwarnings("ignore")
def test_what_scikit_learn_cannot_answer_is_refused():
    X, y = d.datasets.load_iris().xy
    with pytest.raises(DiscrimError, match="answers otherwise"):
        d.NearestCentroid(rule="pamr", shrink_threshold=2.0).fit(X, y).to_sklearn()
    with pytest.raises(DiscrimError, match="has no class of this name"):
        d.LassoClassifier().fit(X, y).to_sklearn()
    with pytest.raises(ValueError, match="not fitted"):
        d.GaussianNB().to_sklearn()
