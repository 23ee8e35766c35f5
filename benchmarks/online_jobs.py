"""Rows for models that learn row by row.

The first two compare equal work: the same rows in the same order, the same number of epochs, and, to rounding, the
same coefficients. The third compares the time to a test log loss within 1 % of the optimum's, on rows as many and as
wide as covertype's, with columns of very different sizes: ours takes one pass by itself; the peer is scaled first,
averaged, and gets a rate that was found by hand to be enough in one epoch (its default rate needs dozens). Then the
same rows and peer for the logistic regression that solves block after block, and corrections until no row is wrong,
for which the peer is given the number of epochs. The last learns from one dict after another; both ways end at the same
coefficients.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.job import Contestant, Data, Job, MissingPeerError, Turn, gaussian_classes, ours

EPOCHS = 5
EQUAL = {"max_iter": EPOCHS, "tol": None, "random_state": 0}
TUNED = {
    "loss": "log_loss",
    "average": True,
    "learning_rate": "constant",
    "eta0": 0.01,
    "max_iter": 1,
    "tol": None,
    "random_state": 0,
}
ONE_PASS = {"loss": "log_loss", "learning_rate": "auto", "average": True, "max_iter": 1, "tol": None, "random_state": 0}


def online_jobs() -> list[Job]:
    tall = gaussian_classes(1_000_000, 50, 2)
    tall32 = gaussian_classes(1_000_000, 50, 2, dtype=np.float32)
    title = f"SGD 1,000,000 x 50, {EPOCHS} epochs"
    read = "one read of X"
    return [
        _equal("sgd-hinge", f"{title}, hinge", tall, 5.0, floor=read, floor_limit=3.0 * EPOCHS, loss="hinge"),
        _equal("sgd-log", f"{title}, log loss", tall, 5.0, floor=read, floor_limit=3.0 * EPOCHS, loss="log_loss"),
        _equal("sgd-float32", f"{title}, log loss, float32", tall32, None, loss="log_loss"),
        _equal("sgd-sparse", f"SGD 200,000 x 50,000, 100 entries a row, {EPOCHS} epochs", _words, 3.0, loss="hinge"),
        Job(
            "sgd-optimum",
            "Logistic 580,000 x 54 to 1 % of the optimum's test log loss",
            partial(_unequal, 580_000, 54),
            Contestant("discrim", lambda data: lambda: ours("SGDClassifier")(**ONE_PASS).fit(data.X, data.y)),
            (Contestant("sklearn SGD, scaled, averaged", _scaled_sgd),),
            3.0,
        ),
        Job(
            "one-pass-logistic",
            "One-pass logistic 580,000 x 54",
            partial(_unequal, 580_000, 54),
            Contestant("discrim", lambda data: lambda: ours("OnePassLogisticRegression")().fit(data.X, data.y)),
            (Contestant("sklearn SGD, scaled, averaged", _scaled_sgd),),
        ),
        Job(
            "rosenblatt",
            "Perceptron 100,000 x 20 until no row is wrong",
            _separable,
            Contestant("discrim", lambda data: lambda: _rosenblatt(data)),
            (Contestant("sklearn Perceptron, as many epochs", _epochs_of_sklearn),),
        ),
        Job(
            "sgd-stream",
            "learn_one, 20,000 dicts of 20 features, log loss",
            gaussian_classes(20_000, 20, 2),
            Contestant("discrim", _stream),
            (Contestant("river", _river),),
            1.0,
            memory=False,
        ),
    ]


def _equal(name: str, title: str, make: Any, target: float | None, *, loss: str, **rest: Any) -> Job:
    def mine(data: Data) -> Turn:
        model = ours("SGDClassifier")
        return lambda: model(loss=loss, **EQUAL).fit(data.X, data.y)

    def peer(data: Data) -> Turn:
        return lambda: SGDClassifier(loss=loss, **EQUAL).fit(data.X, data.y)

    return Job(name, title, make, Contestant("discrim", mine), (Contestant("sklearn", peer),), target, **rest)


def _dicts(data: Data) -> tuple[list[dict[str, float]], list[bool]]:
    names = [f"f{j}" for j in range(data.X.shape[1])]
    return [dict(zip(names, row, strict=True)) for row in data.X.tolist()], (data.y > 0).tolist()


def _one_by_one(make: Any, data: Data) -> Turn:
    rows, labels = _dicts(data)

    def learn() -> Any:
        model = make()
        for x, y in zip(rows, labels, strict=True):
            model.learn_one(x, y)
        return model

    return learn


def _stream(data: Data) -> Turn:
    options = {"loss": "log_loss", "penalty": None, "learning_rate": "constant", "eta0": 0.01}
    return _one_by_one(partial(ours("SGDClassifier"), **options), data)


def _river(data: Data) -> Turn:
    try:
        from river import linear_model, optim
    except ImportError as error:
        raise MissingPeerError("river is not installed") from error
    return _one_by_one(lambda: linear_model.LogisticRegression(optimizer=optim.SGD(0.01)), data)


def _rosenblatt(data: Data) -> Any:
    return ours("RosenblattPerceptron")(shuffle=False).fit(data.X, data.y)


def _epochs_of_sklearn(data: Data) -> Turn:
    epochs = _rosenblatt(data).n_iter_
    return lambda: Perceptron(shuffle=False, tol=None, max_iter=epochs).fit(data.X, data.y)


def _scaled_sgd(data: Data) -> Turn:
    def fit() -> Any:
        model = SGDClassifier(**TUNED)
        return make_pipeline(StandardScaler(), model).fit(data.X, data.y)

    return fit


def _words(small: bool) -> Data:
    """Rows of 100 of 50,000 words, the frequent ones more often."""
    n, p, entries = (500, 200, 20) if small else (200_000, 50_000, 100)
    rng = np.random.default_rng(20260)
    columns = (p * rng.random((n, entries)) ** 2).astype(np.int32)
    values = 1.0 + rng.random((n, entries))
    X = sparse.csr_matrix((values.ravel(), columns.ravel(), np.arange(0, n * entries + 1, entries)), shape=(n, p))
    X.sum_duplicates()
    y = (X @ rng.standard_normal(p) + rng.logistic(size=n) > 0).astype(int)
    return Data(X, y)


def _separable(small: bool) -> Data:
    """Two classes with a gap between them."""
    n, p = (500, 5) if small else (100_000, 20)
    rng = np.random.default_rng(20260)
    X, w = rng.standard_normal((n, p)), rng.standard_normal(p)
    w /= np.linalg.norm(w)
    y = X @ w > 0
    return Data(X + np.where(y, 0.2, -0.2)[:, None] * w, y.astype(int))


def _unequal(n: int, p: int, small: bool) -> Data:
    if small:
        n, p = 2_000, 10
    rng = np.random.default_rng(20260)
    z = rng.standard_normal((n, p)) @ (np.eye(p) + 0.3 * rng.standard_normal((p, p)) / np.sqrt(p))
    y = (z @ rng.standard_normal(p) * 0.5 + rng.logistic(size=n) > 0).astype(int)
    return Data((z + 2.0) * 10.0 ** rng.integers(-3, 4, p), y)
