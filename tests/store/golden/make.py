"""Writes the files of this folder. Once released, a file is never written again."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import discrim
from discrim import basis, decision
from discrim.models.text_classifier import TextClassifier

HERE = Path(__file__).parent
X, Y = discrim.datasets.load_iris().xy
SIX = np.arange(0, 150, 25)
MAILS = ["cheap pills", "see you at noon", "pills and pills", "lunch at noon"]


def models():
    """A few kinds of everything; each with the rows that it answers."""
    two = X[50:, :2], Y[50:]
    return {
        "lda": (discrim.LinearDiscriminantAnalysis().fit(X, Y), X[SIX]),
        "qda": (discrim.QuadraticDiscriminantAnalysis().fit(X[:, :2], Y), X[SIX, :2]),
        "student": (discrim.BayesianQuadraticDiscriminantAnalysis().fit(X[:, :2], Y), X[SIX, :2]),
        "mixed": (discrim.MixedNB().fit(X[:, :2], Y), X[SIX, :2]),
        "logistic": (discrim.LogisticRegression().fit(*two), X[SIX, :2]),
        "sgd": (discrim.SGDClassifier(random_state=0).fit(*two), X[SIX, :2]),
        "text": (TextClassifier().fit(MAILS, ["spam", "ham", "spam", "ham"]), MAILS),
        "threshold": (decision.ThresholdClassifier(discrim.GaussianNB(), cv=3).fit(*two), X[SIX, :2]),
        "rest": (discrim.OneVsRestClassifier(discrim.GaussianNB()).fit(X[:, :2], Y), X[SIX, :2]),
        "spline": (basis.SplineBasis(2).fit(X[:, :1]), X[SIX, :1]),
    }


def answer(model, rows):
    """What is compared: posteriors, else the mapped rows, else the classes."""
    for name in ("predict_proba", "transform"):
        if hasattr(model, name):
            return getattr(model, name)(rows)
    return model.predict(rows)


if __name__ == "__main__":
    for name, (model, rows) in models().items():
        model.save(HERE / f"{name}.discrim", keep_statistic=name == "lda")
        np.savetxt(HERE / f"{name}.csv", np.asarray(answer(model, rows)), "%s", delimiter=",")
