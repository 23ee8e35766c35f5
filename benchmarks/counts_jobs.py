"""Rows for naive Bayes of counts, on sparse rows as texts give them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import naive_bayes
from sklearn.model_selection import GridSearchCV

from benchmarks.job import Contestant, Data, Job, Turn, ours

ALPHAS = np.geomspace(1e-3, 10.0, 20)


def counts_jobs() -> list[Job]:
    texts, topics = sparse_counts(200_000, 100_000, 100, 2), sparse_counts(200_000, 100_000, 100, 20)
    return [
        *(
            Job(
                f"{short}-fit{'-topics' if many else ''}",
                f"{name} fit 200,000 x 100,000, 100 entries a row, K={20 if many else 2}",
                topics if many else texts,
                Contestant("discrim", partial(_fit_ours, name)),
                (Contestant("sklearn", partial(_fit_peer, name)),),
                5.0,
            )
            for short, name in (("mnb", "MultinomialNB"), ("bnb", "BernoulliNB"))
            for many in (False, True)
        ),
        *(
            Job(
                f"{short}-predict{'-topics' if many else ''}",
                f"{name} predict 200,000 x 100,000, 100 entries a row, K={20 if many else 2}",
                topics if many else texts,
                Contestant("discrim", partial(_predict_ours, name)),
                (Contestant("sklearn", partial(_predict_peer, name)),),
                2.0,
            )
            for short, name in (("mnb", "MultinomialNB"), ("bnb", "BernoulliNB"))
            for many in (False, True)
        ),
        Job(
            "mnb-cv",
            "MultinomialNB, 20 alphas, 10 folds, 50,000 x 100,000, 100 entries a row, K=2",
            sparse_counts(50_000, 100_000, 100, 2),
            Contestant("discrim", partial(_choose_ours, "cv")),
            (Contestant("sklearn GridSearchCV", _grid_search, once=True),),
            50.0,
        ),
        Job(
            "mnb-loo",
            "MultinomialNB, 20 alphas, leave-one-out, 50,000 x 100,000, 100 entries a row, K=2",
            sparse_counts(50_000, 100_000, 100, 2),
            Contestant("discrim", partial(_choose_ours, "loo")),
            (),
        ),
        Job(
            "text-fit",
            "TextClassifier fit, 10,000 documents of 200 words, a vocabulary of 50,000",
            partial(_texts, 10_000),
            Contestant("discrim", _fit_texts_ours),
            (Contestant("sklearn CountVectorizer + MultinomialNB", _fit_texts_peer),),
        ),
    ]


def sparse_counts(n: int, p: int, entries: int, k: int) -> Callable[[bool], Data]:
    """Recipe for ``n`` rows of about ``entries`` counts in ``p`` columns, few of which are frequent, as words are."""
    return partial(_sparse_counts, n, p, entries, k)


def _sparse_counts(n: int, p: int, entries: int, k: int, small: bool) -> Data:
    if small:
        n, p = 50 * k, 1_000
    rng = np.random.default_rng(20261)
    y = rng.integers(0, k, n)
    # Ranks of words fall off as Zipf has it, and every class likes some words more than the others do.
    rank = np.minimum(p ** rng.random((n, entries)), p - 1).astype(np.int64)
    column = np.where(rng.random((n, entries)) < 0.3, rank * (y[:, None] + 2) % p, rank)
    shuffled = rng.permutation(p)[column]
    value = rng.integers(1, 4, n * entries).astype(np.float64)
    X = sparse.csr_array((value, shuffled.ravel(), np.arange(0, n * entries + 1, entries)), shape=(n, p))
    X.sum_duplicates()
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return Data(X, y)


def _texts(n: int, small: bool) -> Data:
    """Documents of words as ``sparse_counts`` has them, written out."""
    counts = _sparse_counts(n, 50_000, 140, 20, small)
    X, rng = counts.X, np.random.default_rng(20262)
    letters = np.array(list("etaoinshrdlucmfw"))
    words = ["".join(letters[rng.integers(0, len(letters), rng.integers(3, 9))]) + str(j) for j in range(X.shape[1])]
    drawn = np.repeat(X.indices, X.data.astype(np.int64))
    ends = np.cumsum(np.asarray(X.sum(axis=1), dtype=np.int64).ravel())
    texts = [" ".join(words[j] for j in part) for part in np.split(drawn, ends[:-1])]
    return Data(texts, counts.y)


def _fit_texts_ours(data: Data) -> Turn:
    model = ours("TextClassifier")
    return lambda: model().fit(data.X, data.y)


def _fit_texts_peer(data: Data) -> Turn:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.pipeline import make_pipeline

    return lambda: make_pipeline(CountVectorizer(), naive_bayes.MultinomialNB()).fit(data.X, data.y)


def _fit_ours(name: str, data: Data) -> Turn:
    model = ours(name)
    return lambda: model().fit(data.X, data.y)


def _fit_peer(name: str, data: Data) -> Turn:
    return lambda: getattr(naive_bayes, name)().fit(data.X, data.y)


def _predict_ours(name: str, data: Data) -> Turn:
    return partial(ours(name)().fit(data.X, data.y).predict, data.X)


def _predict_peer(name: str, data: Data) -> Turn:
    return partial(getattr(naive_bayes, name)().fit(data.X, data.y).predict, data.X)


def _choose_ours(how: str, data: Data) -> Turn:
    model: Any = ours("MultinomialNB")
    return lambda: model(alpha=how, alphas=ALPHAS, cv=10).fit(data.X, data.y)


def _grid_search(data: Data) -> Turn:
    grid = {"alpha": ALPHAS}
    return lambda: GridSearchCV(naive_bayes.MultinomialNB(), grid, scoring="neg_log_loss", cv=10).fit(data.X, data.y)
