"""Rows that lie elsewhere, learned part by part: each worker learns from its rows, and coefficients are averaged."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from discrim.block import join
from discrim.errors import DataError, name_list, plural
from discrim.families.online.updates import dense
from discrim.sources import Scan
from discrim.typing import Floats


@dataclass(frozen=True)
class Taught:
    """What some rows have taught: coefficients in the user's units, by so many ``rows`` in so many ``epochs``."""

    coef: Floats
    intercept: Floats
    rows: int
    epochs: int
    converged: bool


def averaged(model: Any, rows: Scan, classes: NDArray[Any], gains: Floats, start: tuple[Any, Any]) -> Taught:
    """The mean of what the parts teach, each weighted by its rows (Zinkevich, Weimer, Smola, Li, 2010).

    Classes count by the same ``gains`` in every part. Only coefficients travel.
    """
    alone = clone(model).set_params(class_weight=dict(zip(classes.tolist(), gains.tolist(), strict=True)))
    of: Callable[[Scan], list[Taught]] = partial(_taught_by, alone, classes, start)
    parts = rows.reduced_elsewhere(of, _listed)
    assert parts is not None
    share = np.array([part.rows for part in parts]) / sum(part.rows for part in parts)
    return Taught(
        np.tensordot(share, np.array([part.coef for part in parts]), 1),
        np.tensordot(share, np.array([part.intercept for part in parts]), 1),
        sum(part.rows for part in parts),
        max(part.epochs for part in parts),
        all(part.converged for part in parts),
    )


def _taught_by(model: Any, classes: NDArray[Any], start: tuple[Any, Any], rows: Scan) -> list[Taught]:
    """What the rows of one part teach, on the worker that has them."""
    block = join(list(rows.blocks()))
    lacking = np.setdiff1d(classes, block.classes[np.unique(block.codes)])
    if len(lacking):
        kind = type(model).__name__
        raise DataError(
            f"A partition of {plural(len(block), 'row')} has none of class {name_list(lacking.tolist())}. {kind} "
            "averages what every partition teaches, so each must have rows of all classes: shuffle the rows among the "
            f"partitions, or use {kind}(shuffle=False), which reads them in order on the calling machine."
        )
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        model = clone(model).fit(block.x, block.classes[block.codes], *start, block.weight)
    converged = not any(issubclass(warning.category, ConvergenceWarning) for warning in met)
    coef = np.atleast_2d(dense(model.coef_)).astype(float)
    return [Taught(coef, np.asarray(model.intercept_, float), len(block), model.n_iter_, converged)]


def _listed(parts: Sequence[list[Taught]]) -> list[Taught]:
    return [taught for part in parts for taught in part]
