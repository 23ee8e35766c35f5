"""What is said of a logistic fit: classes that are separated or have no weight, a solver that was stopped early."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from discrim.errors import SeparationWarning, name_list
from discrim.families.logistic.class_weight import written
from discrim.families.logistic.fit import SmoothFit
from discrim.families.logistic.separation import Separation
from discrim.families.recipe import Columns, Remark
from discrim.typing import Floats

# scikit-learn's words for a solver that was stopped early, where they are not those of the others.
STOPPED = {
    "liblinear": "Liblinear failed to converge, increase the number of iterations",
    "newton-cholesky": "Newton solver did not converge after {steps} iterations",
    "sag": "The max_iter was reached which means the coef_ did not converge",
    "saga": "The max_iter was reached which means the coef_ did not converge",
}


def remarks_of(fit: SmoothFit, columns: Columns) -> Iterator[Remark]:
    """Which classes are without weight, which others are separated, and whether the solver ended too early."""
    found, empty, problem = fit.separation, fit.empty, fit.problem
    classes = problem.classes
    separated = found is not None and found.separated
    if empty:
        yield Remark(_weightless(classes[list(empty)].tolist()), SeparationWarning)
    if found is not None and separated and not set(found.classes.tolist()) <= set(empty):
        named = named_separation(found, ["(Intercept)", *columns.names_out], classes)
        yield Remark(separation_message(named, len(classes)), SeparationWarning)
    if not separated and not fit.solution.converged:
        name = fit.solver if problem.solver == "auto" else problem.solver
        yield Remark(_stopped_early(name, fit.solution.iterations, problem.most), ConvergenceWarning)


@dataclass(frozen=True)
class Named:
    """Whether the classes are separated, in the user's names.

    ``complete``: every row is strictly on its side. ``columns``: those whose coefficients are infinite. ``direction``:
    like the coefficients, intercept first (a row a class for more than two), the way in which they go to infinity.
    ``classes``: those that are kept apart.
    """

    separated: bool
    complete: bool
    columns: list[str]
    direction: Floats
    classes: list[Any]


def named_separation(found: Separation | None, names: Sequence[str], classes: NDArray[Any]) -> Named:
    """The solver's answer with the names of columns and classes."""
    if found is None or not found.separated:
        shape = (len(names),) if len(classes) == 2 else (len(classes), len(names))
        return Named(False, False, [], np.zeros(shape), [])
    columns = [names[j] for j in found.columns]
    return Named(True, found.complete, columns, found.direction, classes[found.classes].tolist())


def separation_message(told: Named, classes: int) -> str:
    """Which of so many classes are separated, what is infinite, and what helps."""
    one = len(told.classes) == 1
    who = f"{'Class' if one else 'The classes'} {written(told.classes)} {'is' if one else 'are'}"
    how = (
        f"{'completely ' if told.complete else ''}separated{'' if len(told.classes) == classes else ' from the others'}"
    )
    single = len(told.columns) == 1
    return (
        f"{who} {how}: the {'estimate' if single else 'estimates'} of {name_list(told.columns)} "
        f"{'is' if single else 'are'} infinite, and predictions come from where the solver stopped. Use "
        "bias_reduction='firth', a finite C, or leave the columns out; see separation_."
    )


def without_weightless(found: Separation | None, empty: Sequence[int], *, intercept: bool) -> Separation | None:
    """Of classes without weight only the intercept is infinite: it takes their probability to 0 with any slopes."""
    if found is None or not found.separated or not empty or not intercept:
        return found
    direction, undetermined = np.zeros(found.direction.shape), np.zeros(found.undetermined.shape, bool)
    undetermined[..., 1:] = True
    if direction.ndim == 1:
        direction[0] = -1.0 if 1 in empty else 1.0
        torn = False
    else:
        others = np.setdiff1d(np.arange(len(direction)), empty)
        among = found.direction[others] - found.direction[others[0]]
        among[np.abs(among) <= 1e-9 * np.abs(found.direction).max()] = 0.0
        torn = bool(among.any())
        direction[others], direction[list(empty), 0] = among, -1.0
        undetermined[others] = found.undetermined[others] if torn else False
    return replace(
        found,
        complete=found.complete and (torn or direction.ndim == 1),
        columns=np.flatnonzero(np.atleast_2d(direction).any(axis=0)),
        direction=direction,
        classes=found.classes if torn else np.array(empty, dtype=np.intp),
        infinite=np.sign(direction).astype(np.int8),
        undetermined=undetermined,
    )


def _weightless(labels: list[Any]) -> str:
    """What to say of classes without weight."""
    who = f"Class {written(labels)} has" if len(labels) == 1 else f"Classes {written(labels)} have"
    its = "its probability is" if len(labels) == 1 else "their probabilities are"
    return (
        f"{who} no weight: {its} estimated as 0 or small, and nothing else can be learned there. Leave these rows out, "
        "or give them weight."
    )


def _stopped_early(solver: str, steps: int, most: int) -> str:
    """Programs look for scikit-learn's words in it."""
    others = f"{solver} failed to converge after {steps} steps. Increase the number of iterations"
    return f"{STOPPED.get(solver, others).format(steps=steps)}: max_iter is {most}."
