"""What a comparison can afford: decided before any model is fitted, by formulas with fixed constants.

The same call therefore gives the same table on any machine. A clock only stops what takes much longer than planned.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from discrim.comparison.compared_rows import ComparedRows
from discrim.comparison.scores import listed
from discrim.comparison.trials import Candidate
from discrim.comparison.tuning import FULL, Effort, group_folds
from discrim.errors import ParameterError
from discrim.models.registry import Size
from discrim.models.shell import recipe_of

# Rows that are left at least, where settings are chosen, or models judged, by a part of the rows.
LEAST_TUNED, LEAST_TRAINED = 1000, 20_000
PARTS = (2, 4, 8, 16)


def check_budget(budget: Any) -> float | None:
    real = isinstance(budget, (int, float, np.number)) and not isinstance(budget, bool)
    if budget is None or (real and float(budget) > 0):
        return None if budget is None else float(budget)
    raise ParameterError.bad_value("budget", budget, "a number of seconds greater than 0, or None for no limit")


def plan(candidates: list[Candidate], rows: ComparedRows, budget: float | None) -> list[Candidate]:
    """The candidates with what they can afford, and why others cannot take part.

    First as many models as possible, the cheapest first, each with the least effort; then, in the same order, each with
    the finest effort that what is left can pay.
    """
    costs = [[(effort, cost_of(one, rows, effort)) for effort in efforts(one, rows)] for one in candidates]
    if budget is None:
        return [replace(one, seconds=cost[0][1]) for one, cost in zip(candidates, costs, strict=True)]
    planned, left = list(candidates), budget
    order = np.argsort([cost[-1][1] for cost in costs], kind="stable").tolist()
    for i in order:
        effort, seconds = costs[i][-1]
        if seconds > left:
            planned[i] = replace(planned[i], why_not=_too_dear(seconds, budget))
            continue
        planned[i] = replace(planned[i], effort=effort, seconds=seconds)
        left -= seconds
    for i in order:
        one = planned[i]
        if not one.why_not:
            effort, seconds = next(pair for pair in costs[i] if pair[1] <= one.seconds + left)
            planned[i], left = replace(one, effort=effort, seconds=seconds), left - (seconds - one.seconds)
    return planned


def efforts(candidate: Candidate, rows: ComparedRows) -> list[Effort]:
    """What may be saved, the least first: partners of tuning, rows of tuning, rows that models are trained on."""
    if candidate.work is None or candidate.why_not:
        return [FULL]
    recipe = recipe_of(candidate.model)
    found, tuned = [FULL], bool(candidate.tuning) and rows.folds.complementary
    parts = [1]
    if tuned:
        found.append(Effort(partners=1))
        # Fewer rows save nothing where a statistic of all serves.
        if recipe is not None and not recipe.one_pass:
            least = max(LEAST_TUNED, 5 * rows.width if rows.dense else 0)
            parts += [part for part in PARTS if rows.n / (rows.every * part) >= least]
            found += [Effort(1, part) for part in parts[1:]]
    if recipe is not None and recipe.needs_rows:
        last = parts[-1]
        enough = max(LEAST_TRAINED, 20 * rows.width * len(rows.classes))
        found += [Effort(1, last, part) for part in PARTS if rows.n / part >= enough]
    return found


def cost_of(candidate: Candidate, rows: ComparedRows, effort: Effort) -> float:
    """Estimated seconds of a trial: folds, tuning, and the fit of all rows; 0 for models from elsewhere."""
    if candidate.work is None or candidate.why_not:
        return 0.0
    recipe = recipe_of(candidate.model)
    closed = rows.folds.one_at_a_time and recipe is not None and not recipe.needs_rows
    folds = 1 if closed else len(rows.folds.parts)
    seconds = folds * candidate.work(_size(rows, rows.n / effort.trained)).fit + candidate.work(_size(rows, rows.n)).fit
    if not candidate.tuning:
        return seconds
    by_rows = recipe is not None and not recipe.one_pass
    n = rows.n / (rows.every * effort.judged) if by_rows else rows.n
    pairs = len(group_folds(rows, effort.partners).pairs)
    return seconds + pairs * candidate.work(_size(rows, n)).grid


def economies(candidates: list[Candidate], budget: float | None) -> list[str]:
    """What was saved to keep within the budget, a sentence for each kind."""
    kinds: dict[str, list[str]] = {}
    for one in candidates:
        effort = one.effort
        if not one.why_not and (effort.judged > 1 or effort.trained > 1):
            how = [f"tuned by one row out of {effort.judged}"] * (effort.judged > 1)
            how += [f"judged by models of one training row out of {effort.trained}"] * (effort.trained > 1)
            kinds.setdefault(" and ".join(how), []).append(one.name)
    return [
        f"To keep within the budget of {budget:g} s, {listed(names, len(names))} "
        f"{'was' if len(names) == 1 else 'were'} {how}; the last fit is of all rows."
        for how, names in kinds.items()
    ]


def _size(rows: ComparedRows, n: float) -> Size:
    stored = rows.data.x.nnz if not rows.dense and hasattr(rows.data.x, "nnz") else rows.n * rows.width
    return Size(n, rows.width, len(rows.classes), stored * n / max(rows.n, 1), rows.dense)


def _too_dear(seconds: float, budget: float) -> str:
    return (
        f"it would take about {_time(seconds)} here, too much beside the others for the budget of {_time(budget)}; "
        "budget=None sets no limit"
    )


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min"
