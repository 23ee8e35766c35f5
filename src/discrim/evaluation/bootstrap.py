"""The .632+ bootstrap: the error of a model with few rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length

from discrim.engines.progress import Progress
from discrim.errors import DataError, ParameterError
from discrim.evaluation.cross_validation import RefitTrial
from discrim.evaluation.proportions import proportion_interval
from discrim.typing import Floats, Index

# The share of the rows that a sample of n out of n has.
SHARE = 0.632


@dataclass(frozen=True)
class BootstrapError:
    """The ``error`` of the .632+ rule, with its ``std_error`` and 95% ``interval``, and what it is made from.

    ``training_error`` is that on the rows that were learned from, ``out_of_bag_error`` the mean over rows of the errors
    of samples without them (the leave-one-out bootstrap), ``no_information_error`` what the predictions would have if
    labels were dealt to the rows at random. ``overfitting`` is where the second is between the first (0) and the third
    (1), and ``weight`` that of the second in the error, from .632 to 1. ``replicates`` are the samples that could be
    fitted.
    """

    error: float
    std_error: float
    interval: tuple[float, float]
    training_error: float
    out_of_bag_error: float
    no_information_error: float
    overfitting: float
    weight: float
    replicates: int

    def __repr__(self) -> str:
        low, high = self.interval
        return (
            f"BootstrapError(error={self.error:.4g} (95% interval {low:.4g} to {high:.4g}), "
            f"training={self.training_error:.4g}, out_of_bag={self.out_of_bag_error:.4g}, "
            f"overfitting={self.overfitting:.3g}, {self.replicates} replicates)"
        )


def bootstrap_error(
    model: Any, X: Any, y: Any = None, *, replicates: int = 200, groups: Any = None, random_state: int = 0
) -> BootstrapError:
    """The .632+ estimate of Efron and Tibshirani (1997, J. Am. Stat. Assoc. 92) of the error on new rows.

    The model is fitted to ``replicates`` samples of n rows, drawn with replacement, and predicts the rows that are not
    in a sample. With few rows this error varies less than a cross-validated one. A sample has 63.2% of the rows, so
    that its error is too large; that of the training rows is too small. The mean of the two with weights .632 and .368
    would trust the second where a model fits everything: here the weight of the first grows with the overfitting,

        err + w (err1 - err),  w = .632 / (1 - .368 R),  R = (err1 - err) / (gamma - err),

    for the training error err, the out-of-bag error err1 (at most gamma) and the no-information error gamma.

    The standard error is that of err1 by the delta method after the bootstrap, times error / err1, as they propose;
    the interval is Wilson's for as many rows as have this standard error, and no more than there are.

    ``model`` is any classifier; ``compare(...).best`` brings the preparation of its columns, which is then part of
    every fit. Settings that it tunes by folds see copies of one row in several of them. With ``groups`` whole groups
    are drawn. A sample that lacks a class is drawn again. Cost: ``replicates`` + 1 fits.

    Examples
    --------
    >>> import discrim
    >>> X, y = discrim.datasets.load_iris().xy
    >>> found = bootstrap_error(discrim.LinearDiscriminantAnalysis(), X[::5], y[::5])
    >>> found.training_error <= found.error <= found.out_of_bag_error
    True
    """
    if not isinstance(replicates, (int, np.integer)) or replicates < 2:
        raise ParameterError.bad_value("replicates", replicates, "an integer of at least 2")
    rows = RefitTrial.of(model, X, y)
    codes, n = rows.block.codes.astype(np.intp), len(rows.block)
    if groups is None:
        units = np.arange(n)
    else:
        check_consistent_length(groups, codes)
        units = np.unique(np.asarray(groups), return_inverse=True)[1]
    everything = np.arange(n)
    predicted = _predicted(rows, rows.fit(everything))
    wrong, counts = _out_of_bag(rows, units, int(replicates), np.random.default_rng(random_state))
    shares = np.bincount(codes, minlength=len(rows.block.classes)) / n
    answers = np.bincount(predicted, minlength=len(shares)) / n
    training, none = float(np.mean(predicted != codes)), float(shares @ (1.0 - answers))
    outside, error = _with_error(wrong, counts, units)
    capped = min(outside, none)
    over = (capped - training) / (none - training) if capped > training and none > training else 0.0
    weight = SHARE / (1.0 - (1.0 - SHARE) * over)
    value = training + weight * (capped - training)
    std_error = error * value / outside if outside > 0 else 0.0
    count = value * (1.0 - value) / std_error**2 if std_error > 0 and 0 < value < 1 else np.inf
    low, high = proportion_interval(value * min(count, n), min(count, n))
    return BootstrapError(
        value, std_error, (float(low), float(high)), training, outside, none, over, weight, len(wrong)
    )  # fmt: skip


def _predicted(rows: RefitTrial, fitted: Any) -> Index:
    """The codes of the classes that are predicted for all rows."""
    X, _ = rows.take(np.arange(len(rows.block)))
    return np.asarray(np.searchsorted(rows.block.classes, fitted.predict(X)))


def _out_of_bag(
    rows: RefitTrial, units: Index, replicates: int, rng: np.random.Generator
) -> tuple[NDArray[np.bool_], Index]:
    """Of each sample the rows that it predicts wrongly, and how often it has each unit."""
    wrong, counts, why = list[NDArray[np.bool_]](), list[Index](), ""
    with Progress("bootstrap", replicates, "fits") as progress:
        for sample, count in _samples(rows.block.codes.astype(np.intp), units, replicates, rng):
            progress.add(1)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    fitted = rows.fit(sample)
            except ValueError as error:
                why = str(error)
                continue
            wrong.append(_predicted(rows, fitted) != rows.block.codes)
            counts.append(count)
    if len(wrong) < max(2, replicates // 2):
        raise DataError(f"Only {len(wrong)} of {replicates} samples could be fitted. The last that could not: {why}")
    return np.array(wrong), np.array(counts)


def _samples(codes: Index, units: Index, replicates: int, rng: np.random.Generator) -> Iterator[tuple[Index, Index]]:
    """Rows with repetitions, of all classes, and how often each unit was drawn."""
    count, order = int(units.max()) + 1, np.argsort(units, kind="stable")
    ends = np.searchsorted(units[order], np.arange(count + 1))
    present = len(np.unique(codes))
    for _ in range(replicates):
        for _ in range(1000):
            drawn = rng.integers(count, size=count)
            sample = np.concatenate([order[ends[u] : ends[u + 1]] for u in drawn])
            if len(np.unique(codes[sample])) == present:
                break
        else:
            raise DataError(
                "Samples of these rows hardly ever have all classes; there are too few rows of one of them."
            )
        yield sample, np.bincount(drawn, minlength=count)


def _with_error(wrong: NDArray[np.bool_], counts: Index, units: Index) -> tuple[float, float]:
    """The leave-one-out bootstrap, and its standard error by the delta method after the bootstrap.

    With I the samples without a unit, N how often they have it, E the errors of a unit in samples without it and q of a
    sample in all units outside, each over n, a unit adds (2 + 1 / (U - 1)) (E - mean) + cov(N, q) / mean(I). What the
    covariances owe to the number of samples is subtracted from the variance, which is at least that of the errors of
    one rule in independent units.
    """
    n, size = len(units), np.bincount(units)
    out = counts == 0
    errors = np.zeros(counts.shape)
    for b, row in enumerate(wrong):
        errors[b] = np.bincount(units, row, minlength=len(size))
    samples = out.sum(axis=0)
    seen = samples > 0
    each: Floats = np.where(seen, (errors * out).sum(axis=0) / np.maximum(samples, 1), 0.0)
    mean = float(each.sum() / size[seen].sum())
    q = (errors * out).sum(axis=1) / n
    samples = np.maximum(samples, 1)
    about = counts - counts.mean(axis=0)
    own = (each - mean * size) / n
    parts = (2.0 + 1.0 / max(len(size) - 1, 1)) * own + (about * q[:, None]).sum(axis=0) / samples
    by_chance = ((about**2).mean(axis=0) / samples**2) * ((q - q.mean()) ** 2).sum()
    variance = float((parts[seen] ** 2 - by_chance[seen]).sum())
    # Errors of one rule vary more than their means over rules: no less than those of independent units.
    least = ((errors - mean * size) ** 2 * out).sum(axis=0) / samples / n**2
    return mean, float(np.sqrt(max(variance, float(least.sum()))))
