"""What a call of fit or partial_fit needs to know before the first row is learned."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_class_weight

from discrim.block import Block, join
from discrim.errors import DataError, ParameterError
from discrim.online.rows import OnlineRows, Targets
from discrim.sources import Rows
from discrim.typing import Floats

LARGEST = np.iinfo(np.int32).max
Shuffle = bool | Literal["rows", "blocks"]

# Rows below which blocks of them are too few to be mixed, and bytes that no cache holds.
MANY = 10_000
LARGE = 64_000_000


def in_blocks(rows: OnlineRows, shuffle: Shuffle, *, ours: bool) -> bool:
    """Are blocks of rows shuffled, not single rows?

    Nothing is gained with rows in cache; there scikit-learn's order is kept, unless the model is of our own make.
    """
    if len(rows) <= MANY or shuffle in (False, "rows"):
        return False
    return shuffle == "blocks" or ours or rows.n_bytes > LARGE


def in_memory(rows: Rows) -> Block:
    """All rows as one block; a single block row by row, as the learners read it."""
    if rows.whole is not None:
        return rows.whole
    block = join(list(rows.blocks()))
    return replace(block, x=np.ascontiguousarray(block.x)) if isinstance(block.x, np.ndarray) else block


def class_gains(class_weight: Any, classes: NDArray[Any], codes: NDArray[np.int32]) -> Floats:
    """How much rows of each class count; 'balanced' is by the rows at hand."""
    if class_weight == "balanced":
        counts = np.bincount(codes, minlength=len(classes)).astype(float)
        return np.asarray(len(codes) / (len(classes) * np.where(counts > 0, counts, 1.0)))
    return np.asarray(compute_class_weight(class_weight, classes=classes, y=classes), dtype=np.float64)


def targets_of(gains: Floats) -> Targets:
    """Two classes are one problem, the second against the first; more are each against the rest."""
    k = len(gains)
    if k <= 2:
        pair = gains if k == 2 else np.array([gains[0], 1.0])
        return Targets(np.array([1], np.int32), pair[1:], pair[:1])
    return Targets(np.arange(k, dtype=np.int32), gains, np.ones(k))


def refuse_one_class(classes: NDArray[Any]) -> None:
    """A model that tells nothing from anything is no answer."""
    if len(classes) < 2:
        raise DataError(f"The number of classes has to be greater than one; got 1 class: {classes.tolist()[0]!r}.")


def given_start(coef_init: Any, intercept_init: Any, shape: tuple[int, int]) -> tuple[Floats, Floats]:
    """Coefficients and intercepts to begin at, in this shape; zeros where none are given."""
    coef = (
        np.zeros(shape)
        if coef_init is None
        else np.array(coef_init.toarray() if hasattr(coef_init, "toarray") else coef_init, dtype=np.float64)
    )
    intercept = np.zeros(shape[0]) if intercept_init is None else np.array(intercept_init, dtype=np.float64)
    expected = f"shape {shape}" if shape[0] > 1 else f"{shape[1]} numbers"
    fits = coef.shape == shape if shape[0] > 1 else coef.size == shape[1]
    if not fits:
        raise ParameterError(f"Provided coef_init does not match dataset: it has shape {coef.shape}, not {expected}.")
    if intercept.shape not in {(shape[0],), () if shape[0] == 1 else (shape[0],)}:
        raise ParameterError(
            f"Provided intercept_init does not match dataset: it has shape {intercept.shape}, not ({shape[0]},)."
        )
    return coef.reshape(shape), intercept.reshape(shape[0])


def problem_count(classes: NDArray[Any]) -> int:
    return 1 if len(classes) <= 2 else len(classes)


def row_seeds(random_state: Any, problems: int) -> list[int]:
    """The seeds of the orders in which scikit-learn's SGD reads the rows, one for each problem."""
    rng = as_random_state(random_state)
    if problems == 1:
        return [_second_draw(rng)]
    return [_second_draw(np.random.RandomState(seed)) for seed in rng.randint(LARGEST, size=problems)]


def as_random_state(random_state: Any) -> np.random.RandomState:
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(random_state.integers(LARGEST))
    state: np.random.RandomState = check_random_state(random_state)
    return state


def held_out_rows(rows: OnlineRows, labels: NDArray[Any], fraction: float, random_state: Any) -> NDArray[np.bool_]:
    """The rows on which early stopping looks: a random part of every class."""
    from sklearn.model_selection import StratifiedShuffleSplit

    if isinstance(random_state, np.random.Generator):
        random_state = as_random_state(random_state)
    split = StratifiedShuffleSplit(test_size=fraction, random_state=random_state)
    _, held = next(split.split(np.zeros((len(labels), 1)), labels))
    if rows.weight is not None and not rows.weight[held].any():
        raise DataError(
            "The sample weights for validation set are all zero, consider using a different random state: "
            "early stopping looks at rows that were drawn with this one."
        )
    mask = np.zeros(len(labels), dtype=bool)
    mask[held] = True
    return mask


class HeldOut:
    """The share of held-out rows, by weight, that each problem has on the right side."""

    def __init__(self, rows: OnlineRows, mask: NDArray[np.bool_], targets: Targets) -> None:
        self.x = rows.x[mask]
        codes = rows.codes[mask]
        self.weight = np.ones(len(codes)) if rows.weight is None else rows.weight[mask]
        self.positive = codes[:, None] == targets.positive

    def __call__(self, members: list[int], w: Floats, intercept: Floats) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            margins = self.x @ w.T + intercept
        return np.asarray(self.weight @ ((margins > 0) == self.positive[:, members]) / self.weight.sum())


def _second_draw(rng: np.random.RandomState) -> int:
    rng.randint(1, LARGEST)
    return int(rng.randint(LARGEST))


def sparse_step(x: Any) -> float:
    """The intercept moves less on sparse rows, as in scikit-learn: it is in every row, the columns are in few."""
    return 0.01 if sparse.issparse(x) else 1.0
