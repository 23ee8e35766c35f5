"""``python -m benchmarks sweep``: who only changes the import, on shapes that nobody tuned for.

A seeded generator draws cases: a class that scikit-learn has under the same name, with its default parameters; rows
and columns on a logarithmic scale; the number of classes; the container; the type of the labels. Ours and
scikit-learn's take turns in one process, in ``fit`` and in ``predict``. The ratio is that of the medians, with a 95%
interval by bootstrap over the turns. With ``--one-thread`` both have one thread and what counts is processor time,
which other work on the same machine hardly changes. A case counts as lost where the whole interval lies below 1.0 for
``fit`` or below 0.9 for ``predict``.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import threadpool_limits

from benchmarks.job import ours
from benchmarks.table import machine

RESULTS = Path(__file__).with_name("SWEEP.md")
# Least ratio of fit and of predict.
LEAST = {"fit": 1.0, "predict": 0.9}


@dataclass(frozen=True)
class Case:
    name: str  # of the class, ours and scikit-learn's
    n: int
    p: int
    k: int
    container: str = "array"
    labels: str = "int"
    entries: int = 0  # of a sparse row

    def __str__(self) -> str:
        sparse_row = f", {self.entries} entries a row" if self.entries else ""
        labels = "" if self.labels == "int" else f", {self.labels} labels"
        return f"{self.name} {self.n:,} x {self.p:,} K={self.k}, {self.container}{sparse_row}{labels}"


@dataclass(frozen=True)
class Outcome:
    case: Case
    step: str  # "fit" or "predict"
    ours_ms: float
    theirs_ms: float
    low: float
    high: float

    @property
    def ratio(self) -> float:
        return self.theirs_ms / self.ours_ms

    @property
    def lost(self) -> bool:
        return self.high < LEAST[self.step]


DENSE = {
    "LinearDiscriminantAnalysis": 3e8,
    "QuadraticDiscriminantAnalysis": 3e8,
    "GaussianNB": 1e9,
    "LogisticRegression": 3e8,
    "RidgeClassifier": 1e9,
    "NearestCentroid": 1e9,
    "Perceptron": 1e9,
    "SGDClassifier": 5e8,
    "PassiveAggressiveClassifier": 1e9,
    "MultinomialNB": 1e9,
    "ComplementNB": 1e9,
    "BernoulliNB": 1e9,
    "CategoricalNB": 1e8,
}
SPARSE = (
    "LogisticRegression",
    "MultinomialNB",
    "ComplementNB",
    "BernoulliNB",
    "SGDClassifier",
    "RidgeClassifier",
    "Perceptron",
    "NearestCentroid",
)
CONTAINERS = ("array", "array", "array", "Fortran array", "float32 array", "pandas frame", "list")
LABELS = ("int", "int", "string", "bool")


def draw(seed: int, count: int) -> Iterator[Case]:
    """So many cases, all classes in turn, two dense ones for each sparse one."""
    rng = np.random.default_rng(seed)
    for i in range(count):
        as_sparse = i % 3 == 2
        names = SPARSE if as_sparse else tuple(DENSE)
        name = names[(i // 3 if as_sparse else i - i // 3) % len(names)]
        k = int(rng.choice([2, 2, 2, 3, 4, 6, 10, 20]))
        labels = str(rng.choice(LABELS if k == 2 else LABELS[:-1]))
        if as_sparse:
            n, p = _between(rng, 800, 40_000), _between(rng, 1_000, 60_000)
            if name == "NearestCentroid":
                # scikit-learn's makes the rows dense.
                n = min(n, 100_000_000 // p)
            yield Case(name, n, p, k, "csr", labels, min(_between(rng, 8, 150), p // 4))
            continue
        n, p = _shape(rng, DENSE[name])
        if name == "QuadraticDiscriminantAnalysis":
            # Where a class has no more rows than columns, ours refuses and scikit-learn's warns.
            p = min(p, max(n // (2 * k), 2))
        container = str(rng.choice(CONTAINERS if n * p < 200_000 else CONTAINERS[:-1]))
        yield Case(name, max(n, 12 * k), p, k, container, labels)


def _between(rng: np.random.Generator, low: float, high: float) -> int:
    return int(np.exp(rng.uniform(np.log(low), np.log(high))))


def _shape(rng: np.random.Generator, most: float) -> tuple[int, int]:
    """Rows and columns: small, tall, middle or about as many columns as rows."""
    while True:
        kind = rng.integers(5)
        if kind == 0:
            n, p = _between(rng, 80, 400), _between(rng, 2, 30)
        elif kind == 1:
            n, p = _between(rng, 20_000, 400_000), _between(rng, 4, 60)
        elif kind in (2, 3):
            n, p = _between(rng, 1_000, 20_000), _between(rng, 5, 400)
        else:
            n = _between(rng, 100, 2_000)
            p = max(2, int(n * np.exp(rng.uniform(np.log(0.3), np.log(4.0)))))
        if n * p * min(n, p) ** 0.5 <= most:
            return n, p


def make(case: Case, seed: int = 0) -> tuple[Any, NDArray[Any]]:
    rng = np.random.default_rng([seed, case.n, case.p, case.k])
    codes = rng.permutation(np.arange(case.n) % case.k)
    X = _sparse(case, codes, rng) if case.entries else _dense(case, codes, rng)
    names = {
        "int": np.arange(case.k),
        "string": np.array([f"class {i}" for i in range(case.k)]),
        "bool": np.arange(2) > 0,
    }[case.labels]
    return X, names[codes]


def _dense(case: Case, codes: NDArray[Any], rng: np.random.Generator) -> Any:
    n, p, k = case.n, case.p, case.k
    means = rng.standard_normal((k, p)) * min(1.0, 2.0 / np.sqrt(p))
    if case.name == "CategoricalNB":
        X = rng.integers(0, 5, size=(n, p)) + rng.integers(0, 3, size=(k, p))[codes]
    elif case.name in {"MultinomialNB", "ComplementNB", "BernoulliNB"}:
        X = rng.poisson(np.exp(means * 0.3)[codes]).astype(float)
    else:
        X = rng.standard_normal((n, p)) + means[codes]
        X[:, p // 2 :] += 0.6 * X[:, : p - p // 2]
    if case.container == "list":
        return X.tolist()
    if case.container == "pandas frame":
        import pandas as pd

        return pd.DataFrame(X, columns=[f"x{j}" for j in range(p)])
    if case.container == "float32 array":
        return X.astype(np.float32) if X.dtype == float else X
    return np.asfortranarray(X) if case.container == "Fortran array" else X


def _sparse(case: Case, codes: NDArray[Any], rng: np.random.Generator) -> Any:
    """Word counts: a few frequent words, many rare ones, some of them of one class."""
    n, p, k = case.n, case.p, case.k
    popular = 1.0 / (np.arange(p) + 10.0)
    lengths = rng.poisson(case.entries, n) + 1
    rows = np.repeat(np.arange(n), lengths)
    words = rng.choice(p, size=len(rows), p=popular / popular.sum())
    own = rng.random(len(rows)) < 0.1
    words[own] = (words[own] // k * k + codes[rows[own]]) % p
    X = sparse.csr_matrix((np.ones(len(rows)), (rows, words)), shape=(n, p))
    X.sum_duplicates()
    return X


def peer(name: str) -> Any:
    from sklearn.utils import all_estimators

    return dict(all_estimators(type_filter="classifier"))[name]


def measure(case: Case, *, seconds: float, clock: Callable[[], float] = time.perf_counter) -> Iterator[Outcome]:
    X, y = make(case)
    mine, theirs = ours(case.name), peer(case.name)
    mine_fitted, theirs_fitted = mine().fit(X, y), theirs().fit(X, y)
    for step, one, other in (
        ("fit", lambda: mine().fit(X, y), lambda: theirs().fit(X, y)),
        ("predict", lambda: mine_fitted.predict(X), lambda: theirs_fitted.predict(X)),
    ):
        a, b = _turns(one, other, seconds, clock)
        low, high = _interval(a, b)
        yield Outcome(case, step, 1e3 * float(np.median(a)), 1e3 * float(np.median(b)), low, high)


def _turns(
    one: Callable[[], Any], other: Callable[[], Any], seconds: float, clock: Callable[[], float]
) -> tuple[list[float], list[float]]:
    one(), other()
    times: tuple[list[float], list[float]] = ([], [])
    start = clock()
    while len(times[0]) < 5 or (clock() - start < seconds and len(times[0]) < 200):
        for turn, spent in zip((one, other), times, strict=True):
            begin = clock()
            turn()
            spent.append(clock() - begin)
        if clock() - start > 20 * seconds and len(times[0]) >= 3:
            break
    return times


def _interval(a: list[float], b: list[float]) -> tuple[float, float]:
    rng = np.random.default_rng(0)
    index = rng.integers(len(a), size=(1000, len(a)))
    ratios = np.median(np.array(b)[index], axis=1) / np.median(np.array(a)[index], axis=1)
    low, high = np.quantile(ratios, [0.025, 0.975])
    return float(low), float(high)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks sweep", description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=120)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="cases whose text contains this")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each step of each case")
    parser.add_argument("--one-thread", action="store_true", help="one thread each, and processor time")
    args = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    clock = time.process_time if args.one_thread else time.perf_counter
    if args.one_thread:
        os.environ["DISCRIM_NUM_THREADS"] = "1"
    with threadpool_limits(1) if args.one_thread else nullcontext():
        outcomes = _swept(args, clock)
    text = _summary(outcomes)
    print(text)
    if not args.only:
        RESULTS.write_text(_page(outcomes, text, args))
    return 0


def _swept(args: argparse.Namespace, clock: Callable[[], float]) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for case in draw(args.seed, args.cases):
        if args.only not in str(case):
            continue
        for found in measure(case, seconds=args.seconds, clock=clock):
            outcomes.append(found)
            mark = "  LOST" if found.lost else ""
            times = f"{found.ours_ms:9.3f} {found.theirs_ms:9.3f} ms {found.ratio:7.2f}x"
            print(f"{found.step:8}{times} [{found.low:.2f}, {found.high:.2f}]  {case}{mark}", flush=True)
    return outcomes


def _summary(outcomes: list[Outcome]) -> str:
    lines = []
    for step in LEAST:
        found = [outcome for outcome in outcomes if outcome.step == step]
        mean = float(np.exp(np.mean([np.log(outcome.ratio) for outcome in found]))) if found else float("nan")
        lost = sum(outcome.lost for outcome in found)
        lines.append(f"{step}: {len(found)} cases, geometric mean {mean:.2f}x, {lost} lost")
    return "\n".join(lines)


def _page(outcomes: list[Outcome], text: str, args: argparse.Namespace) -> str:
    rows = [
        f"| {o.case} | {o.step} | {o.ours_ms:.3g} ms | {o.theirs_ms:.3g} ms | **{o.ratio:.2f}x** "
        f"({o.low:.2f} to {o.high:.2f}){' lost' if o.lost else ''} |"
        for o in outcomes
    ]
    head = "# Sweep: only the import changed\n\nWritten by `python -m benchmarks sweep"
    options, times = (" --one-thread", "processor times of one thread each, ") if args.one_thread else ("", "")
    called = f"--cases {args.cases} --seed {args.seed} --seconds {args.seconds:g}{options}"
    how = f"{called}`. Default parameters on both sides, {times}medians of interleaved turns,"
    how = f"{how} 95% intervals.\n"
    table = ["| case | step | discrim | scikit-learn | ratio |", "|---|---|---|---|---|", *rows]
    return "\n".join([f"{head} {how}", machine(), "", text, "", *table, ""])
