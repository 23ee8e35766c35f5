"""What choosing costs: the error to expect of the chosen rule, corrected for having been chosen among several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import special

from discrim.comparison.compared_rows import ComparedRows
from discrim.comparison.metrics import SHARES, Metric, standard_error
from discrim.evaluation.proportions import proportion_interval
from discrim.typing import Floats, Index

REPLICATES = 400
# More rows are put together at random into so many parts, which are drawn like rows.
MOST_UNITS = 4000


class Row(Protocol):
    """What is asked of the line of the model that was chosen."""

    @property
    def value(self) -> float: ...

    @property
    def dependence(self) -> float: ...


@dataclass(frozen=True)
class Corrected:
    """The error to expect of the rule that was chosen among so many ``models``, with its 95% interval."""

    error: float
    interval: tuple[float, float]
    models: int


def corrected_error(
    errors: Mapping[str, Floats],
    log_losses: Mapping[str, Floats],
    rows: ComparedRows,
    most: float,
    metric: Metric = "error",
    chosen: Row | None = None,
) -> Corrected | None:
    """By drawing held-out rows with replacement and choosing again; the rows that were not drawn judge the choice.

    It is the bootstrap of Tsamardinos, Greasidou and Borboudakis (2018): nothing is fitted again. ``errors`` (or other
    losses whose mean is the ``metric``) and ``log_losses`` are those of every row under each model. As in ``choose``,
    of the models within one standard error of the best, and within ``most``, the one of the lowest log loss is taken.
    Rows of one group are drawn together. Choosing makes a figure too small, never too large: the corrected one is not
    below that of the ``chosen`` model, whose ``dependence`` widens the interval. None where there are fewer than two
    models. Cost: about 400 n m for m models, for n up to ``MOST_UNITS``.
    """
    names = list(errors)
    if len(names) < 2:
        return None
    rng = np.random.default_rng(0)
    units = rows.dealer.units if rows.dealer.grouped and rows.dealer.units is not None else np.arange(rows.n)
    count = int(units.max()) + 1
    if count > MOST_UNITS:
        units, count = (rng.permutation(count) % MOST_UNITS)[units], MOST_UNITS
    without = np.full(rows.n, np.inf)
    wrong, uncertain = (
        np.column_stack([_totals(units, table.get(name, without)) for name in names]) for table in (errors, log_losses)
    )
    size = _totals(units, rows.weights / rows.weights.mean())
    drawn = np.stack([np.bincount(rng.integers(count, size=count), minlength=count) for _ in range(REPLICATES)])
    again = _chosen_again(drawn, wrong, uncertain, size, most)
    left = drawn == 0
    judged = np.take_along_axis(left @ wrong, again[:, None], axis=1)[:, 0]
    total = left @ size
    error = float(judged[total > 0].sum() / total[total > 0].sum())
    usual, times = errors[names[int(np.bincount(again).argmax())]], 1.0
    if chosen is not None:
        error, times = max(error, chosen.value), chosen.dependence
    if metric in SHARES:
        n = effective_rows(usual, rows, metric)
        if rows.dealer.grouped:
            # The variance between few groups is small where the model was lucky: that of all models is steadier.
            n = len(errors) / sum(1.0 / effective_rows(parts, rows, metric) for parts in errors.values())
        n /= times
        low, high = proportion_interval(error * n, n)
    else:
        half = -float(special.ndtri(0.025)) * standard_error(usual, rows, metric) * np.sqrt(times)
        low, high = max(error - half, 0.0), error + half
    return Corrected(error, (float(low), float(high)), len(names))


def _totals(units: Index, values: Floats) -> Floats:
    return np.bincount(units, values).astype(np.float64)


def _chosen_again(drawn: Index, wrong: Floats, uncertain: Floats, size: Floats, most: float) -> Index:
    """Which model each replicate chooses."""
    error = (drawn @ wrong) / (drawn @ size)[:, None]
    # A model without posteriors is chosen only where no other is near.
    finite = np.isfinite(uncertain).all(axis=0)
    loss = np.where(finite, drawn @ np.where(finite, uncertain, 0.0), np.inf)
    pairs = wrong[:, :, None] - wrong[:, None, :]
    spread = pairs.std(axis=0) * np.sqrt(len(wrong)) / size.sum()
    best = error.argmin(axis=1)
    near = error <= (error.min(axis=1) + 1e-12)[:, None] + np.minimum(spread[best], most)
    lowest = np.where(near, loss, np.inf)
    alone = ~np.isfinite(lowest).any(axis=1)
    return np.asarray(np.where(alone, best, lowest.argmin(axis=1)))


def dependence(parameters: float, n: float) -> float:
    """By how much the variance of a cross-validated mean exceeds that of n independent rows: 1 + 2 d / n, at most 2.

    The rule that judges a row was fitted to the others, and they to it, so that what two rows have in common does not
    vanish; nor does the variance of the rule itself, which is the target. Both grow with what is fitted: d free numbers
    of the rule. Where a rule learns nothing but labels by chance, everything that two rows have in common counts twice,
    which is the most.
    """
    return 1.0 + min(1.0, 2.0 * parameters / max(n, 1.0)) if np.isfinite(parameters) else 1.0


def _balanced_variance(parts: Floats, rows: ComparedRows, sizes: Floats) -> float:
    """Of the mean of the classes' errors, each with two errors and two others more (Agresti and Coull 1998).

    A class without a single error, or with errors alone, would have no variance, and a rule that finds no row of a
    rare class an interval of no length.
    """
    kept = sizes > 0
    n, errors = sizes[kept], kept.sum() * np.bincount(rows.codes, parts, minlength=len(sizes))[kept] / rows.n
    p = (n * errors + 2.0) / (n + 4.0)
    return float((p * (1.0 - p) / (n + 4.0)).sum()) / float(kept.sum()) ** 2


def effective_rows(parts: Floats, rows: ComparedRows, metric: Metric = "error") -> float:
    """The number of independent, equally weighted rows that carry as much information on the mean of these parts.

    With groups it follows from the variance between them: rows of one group are right or wrong together. That of the
    balanced error depends on which class errs; without an error it is that of equal errors in all classes.
    """
    w, value = rows.weights, float(parts.mean())
    inside = 0.0 < value < 1.0
    n = float(w.sum() ** 2 / (w @ w))
    if metric == "balanced_error":
        sizes = np.bincount(rows.codes, w) ** 2 / np.maximum(np.bincount(rows.codes, w * w), 1e-300)
        n = float((sizes > 0).sum() ** 2 / (1.0 / sizes[sizes > 0]).sum())
        if not rows.dealer.grouped:
            return value * (1.0 - value) / _balanced_variance(parts, rows, sizes) if inside else n
    if not rows.dealer.grouped or rows.dealer.units is None:
        return n
    # Of few groups the variance is uncertain itself: Student's quantile in place of the normal one.
    groups = int(rows.dealer.units.max()) + 1
    wider = (special.stdtrit(max(groups - 1, 1), 0.975) / special.ndtri(0.975)) ** 2
    error = standard_error(parts, rows, metric) if inside else 0.0
    return float(min(n, value * (1.0 - value) / error**2 if error > 0 else groups) / wider)
