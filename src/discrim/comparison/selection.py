"""What choosing costs: the error to expect of the chosen rule, corrected for having been chosen among several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from discrim.comparison.compared_rows import ComparedRows
from discrim.evaluation.proportions import proportion_interval
from discrim.typing import Floats, Index

REPLICATES = 400
# More rows are put together at random into so many parts, which are drawn like rows.
MOST_UNITS = 4000


@dataclass(frozen=True)
class Corrected:
    """The error to expect of the rule that was chosen among so many ``models``, with its 95% interval."""

    error: float
    interval: tuple[float, float]
    models: int


def corrected_error(
    errors: Mapping[str, Floats], log_losses: Mapping[str, Floats], rows: ComparedRows, most: float
) -> Corrected | None:
    """By drawing held-out rows with replacement and choosing again; the rows that were not drawn judge the choice.

    It is the bootstrap of Tsamardinos, Greasidou and Borboudakis (2018): nothing is fitted again. ``errors`` and
    ``log_losses`` are those of every row under each model. As in ``choose``, of the models within one standard error of
    the best, and within ``most``, the one of the lowest log loss is taken. Rows of one group are drawn together. None
    where there are fewer than two models. Cost: about 400 n m for m models, for n up to ``MOST_UNITS``.
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
    chosen = _chosen_again(drawn, wrong, uncertain, size, most)
    left = drawn == 0
    judged = np.take_along_axis(left @ wrong, chosen[:, None], axis=1)[:, 0]
    total = left @ size
    error = float(judged[total > 0].sum() / total[total > 0].sum())
    n = effective_rows(error, errors[names[int(np.bincount(chosen).argmax())]], rows)
    low, high = proportion_interval(error * n, n)
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


def effective_rows(error: float, errors: Floats, rows: ComparedRows) -> float:
    """The number of independent, equally weighted rows that carry as much information on an error.

    With groups it follows from the variance between them: rows of one group are right or wrong together.
    """
    w = rows.weights
    n = float(w.sum() ** 2 / (w @ w))
    if not rows.dealer.grouped or rows.dealer.units is None or not 0.0 < error < 1.0:
        return n
    units = rows.dealer.units
    apart = np.bincount(units, errors - errors.mean() * w / w.mean())
    groups = len(apart)
    variance = float(apart @ apart) / rows.n**2 * groups / max(groups - 1, 1)
    return min(n, error * (1.0 - error) / variance) if variance > 0 else float(groups)
