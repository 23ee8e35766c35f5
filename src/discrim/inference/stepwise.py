"""Terms chosen step by step, by AIC or BIC."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from discrim.errors import ParameterError
from discrim.inference.deviance_tests import Smaller, restricted
from discrim.inference.fitted import Fitted
from discrim.inference.summary import Table

# A gain below this is rounding.
GAIN = 1e-7


@dataclass(frozen=True)
class Steps:
    """``terms`` that were kept, in the model's order, and the ``table`` of the steps that led there."""

    terms: list[str]
    table: Table


@dataclass(frozen=True)
class _Move:
    """One term more or less: what it is called, what it leads to, and how that is rated."""

    name: str
    terms: frozenset[str]
    fit: Smaller
    score: float


def stepwise(fitted: Fitted, criterion: str = "aic", direction: str = "both") -> Steps:
    """From all terms ("both", "backward") or from none ("forward"), the best move until no move is better.

    A move leaves out one term, or takes one in; it is rated by -2 log-likelihood + k parameters with k = 2 (AIC) or
    log(rows) (BIC). "both" may take a term back.

    Cost: two or three passes for each term at each step.
    """
    if criterion not in ("aic", "bic"):
        raise ParameterError.bad_value("criterion", criterion, "'aic' or 'bic'")
    if direction not in ("both", "backward", "forward"):
        raise ParameterError.bad_value("direction", direction, "'both', 'backward' or 'forward'")
    fitted.need_likelihood("step()")
    price = 2.0 if criterion == "aic" else float(np.log(fitted.rows))
    names = [name for name, _ in fitted.terms]
    here = _start(fitted, direction, names, price)
    path = [here]
    while True:
        moves = list(_moves(fitted, here, direction, names, price))
        spare = [move for move in moves if _costs_nothing(here, move)]
        best = spare[-1] if spare else min(moves, key=lambda move: move.score, default=here)
        if not spare and best.score >= here.score - GAIN:
            break
        here = best
        path.append(here)
    return Steps([name for name in names if name in here.terms], _table(fitted, path, criterion))


def _start(fitted: Fitted, direction: str, names: list[str], price: float) -> _Move:
    terms = frozenset() if direction == "forward" else frozenset(names)
    fit = restricted(fitted, []) if direction == "forward" else Smaller(fitted.solution, int(fitted.parameters))
    return _Move("", terms, fit, fitted.criterion(fit.solution.loss, fit.parameters, price))


def _moves(fitted: Fitted, here: _Move, direction: str, names: list[str], price: float) -> Iterator[_Move]:
    for name in names:
        inside = name in here.terms
        if direction == ("forward" if inside else "backward"):
            continue
        terms = here.terms ^ {name}
        fit = restricted(fitted, sorted(terms), here.fit.solution)
        score = fitted.criterion(fit.solution.loss, fit.parameters, price)
        if inside or fit.parameters > here.fit.parameters:
            yield _Move(f"{'-' if inside else '+'} {name}", terms, fit, score)


def _costs_nothing(here: _Move, move: _Move) -> bool:
    """Is a term left out whose columns the others determine?"""
    return len(move.terms) < len(here.terms) and move.fit.parameters == here.fit.parameters


def _table(fitted: Fitted, path: list[_Move], criterion: str) -> Table:
    rows = []
    for i, move in enumerate(path):
        deviance = 2.0 * (move.fit.solution.loss - fitted.saturated_loss)
        df, change = np.nan, np.nan
        if i:
            before = path[i - 1].fit
            df = abs(move.fit.parameters - before.parameters)
            change = deviance - 2.0 * (before.solution.loss - fitted.saturated_loss)
        rows.append([df, change, fitted.observations - move.fit.parameters, deviance, move.score])
    columns = ["Df", "Deviance", "Resid. Df", "Resid. Dev", criterion.upper()]
    return Table("Steps", [move.name for move in path], columns, np.array(rows, dtype=float), digits=7)
