"""Logistic regression of rows that are read once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from discrim.block import Block
from discrim.engines import passes_over
from discrim.engines.orders import LARGEST, Parts, as_random_state, gathered, in_runs, shuffled
from discrim.engines.walk import Lane, Walked, walk
from discrim.errors import OrderWarning, warn
from discrim.families.online.one_pass_logistic import Memory, OnePass, Past, rows_at_once
from discrim.families.online.problems import class_gains, coded, problem_count
from discrim.families.online.scaling import Scaling
from discrim.families.sequence import Stopping
from discrim.losses import softmax
from discrim.models.online.base import OnlineClassifier, Standing, Start
from discrim.models.online.parameters import SHARED
from discrim.models.parameters import Check, boolean
from discrim.sources import Scan
from discrim.typing import Floats

# Rows of a part that are all of one class only where parts are in the order of the classes.
FEWEST = 50
# Rows of other classes that a block would have if rows came at random; it has none once in a million then.
EXPECTED = 14.0


@dataclass(eq=False, repr=False, kw_only=True)
class OnePassLogisticRegression(OnlineClassifier):
    """Logistic regression that comes as close to the optimum as rows that are seen once allow.

    **Model.** log P(k | x) = w_k'x + b_k up to a constant; for two classes log P(2 | x) / P(1 | x) = w'x + b.

    **Statistic.** Of rows that are gone, a quadratic memory of their log loss: where they left the coefficients, and
    the slope and curvature of the loss there, class by class. It is renewed by the next rows, and neither merged nor
    subtracted.

    **Estimate.** Rows come in blocks of a million numbers (or as ``partial_fit`` is given them). Each block is solved
    to the minimum of its log loss, the memory of those before it, and alpha |w|^2 / 2 for each unit of weight. So the
    answer is the mean of the blocks' optima, each weighted by its curvature: no step can be too large, and the first
    blocks are not forgotten. Columns are centred and scaled inside by a first look (sparse ones are scaled only).

    The memory is right near the coefficients that it was made at. Parts in the order of the classes lead far away from
    there, and what was learned is lost: a part of 50 rows or more with one class only is warned of (``OrderWarning``),
    and so are blocks of one class in ``fit``, where rows are not shuffled or too many for the buffer.

    **Rule.** The class with the largest w_k'x + b_k. Classes that join later begin as rare as the rows so far made
    them.

    Cost: n p^2 K / 2 multiplications for the curvature, 2 n p K for each of five to a hundred slopes a block, K p^3 / 3
    a block; K p^2 numbers of memory. With more than 500 columns the memory keeps the diagonal of the curvature alone,
    K p numbers, and sparse rows cost their entries. The rows are read once; a ``scan`` that can be read again is looked
    at before, for its labels and for the size of the columns.

    Parameters
    ----------
    alpha : float, strength of the penalty on weights of scaled columns, for each unit of weight
        A row that counts twice is two rows. 0 is no penalty.
    fit_intercept : bool
    shuffle : bool, read rows in random order, as far as they are more than a block; a ``scan`` through a buffer
    random_state : int, generator or None
    class_weight : dict of class to weight, 'balanced' or None

    Attributes
    ----------
    coef_, intercept_ : 1 x p and 1 for two classes, else K x p and K
    classes_, n_iter_ : n_iter_ is 1
    t_ : float, one more than the rows learned so far

    Examples
    --------
    >>> from discrim import OnePassLogisticRegression, datasets
    >>> X, y = datasets.load_iris().xy
    >>> model = OnePassLogisticRegression(random_state=0)
    >>> for part in (slice(0, 150, 2), slice(1, 150, 2)):
    ...     model = model.partial_fit(X[part], y[part])
    >>> model.score(X, y) > 0.95
    True
    """

    _scales: ClassVar[bool] = True
    _constraints: ClassVar[dict[str, Check]] = {
        **{name: SHARED[name] for name in ("alpha", "fit_intercept", "random_state", "class_weight")},
        "shuffle": boolean(),
    }

    alpha: float = 0.0001
    fit_intercept: bool = True
    shuffle: bool = True
    random_state: Any = None
    class_weight: Any = None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows X with labels y, or from a ``scan``, block after block."""
        return self._fit(X, y, sample_weight)

    def _check_probabilities(self) -> None:
        """There always are."""

    @property
    def posterior_form(self) -> str | None:
        return "softmax"

    def _probabilities(self, scores: NDArray[Any]) -> NDArray[Any]:
        if scores.ndim == 2:
            return softmax(scores)
        one = expit(scores)
        return np.column_stack([1 - one, one])

    def _start(self, shape: tuple[int, int], scaling: Scaling | None, start: Start) -> Past:  # noqa: ARG002 - as of every learner
        return Past(Memory.empty(*shape, intercept=self.fit_intercept))

    def _grow(self, at: Standing, wanted: NDArray[Any]) -> Past:
        past: Past = at.state
        return replace(past, memory=past.memory.grown(problem_count(wanted), np.searchsorted(wanted, at.classes)))

    def _walk(self, at: Standing, block: Block, *, whole: bool) -> Walked:
        rows = coded(block, at.classes)
        if not whole and len(rows) >= FEWEST and len(at.classes) > 1 and (rows.codes == rows.codes[0]).all():
            warn(
                f"All {len(rows)} rows of this part are of class '{at.classes[rows.codes[0]]}'. Parts in the order of "
                "the classes make a learner of one pass forget the classes before: shuffle the rows first, or give "
                "parts that have all classes.",
                OrderWarning,
            )
        size, rng = rows_at_once(rows.x), None
        if len(rows) > size and self.shuffle:
            rng = np.random.RandomState(as_random_state(self.random_state).randint(LARGEST))
        counts = np.bincount(rows.codes, minlength=len(at.classes))
        return self._once(at, counts, in_runs(rows, size, rng), len(rows))

    def _walk_scan(self, at: Standing, rows: Scan, counts: NDArray[np.int64]) -> Walked:
        parts: Iterator[Block] = (coded(block, at.classes) for block in rows.blocks())
        mixed = shuffled(parts, as_random_state(self.random_state)) if self.shuffle else parts
        return self._once(at, counts, gathered(mixed, rows_at_once), rows.n_rows)

    def _once(self, at: Standing, counts: NDArray[np.integer], blocks: Iterator[Block], n: int | None) -> Walked:
        assert at.scaling is not None
        gains = class_gains(self.class_weight, at.classes, counts)
        sequence = OnePass(at.scaling, gains, float(self.alpha), passes_over)
        watched = self._watched(blocks, at, counts)
        return walk(sequence, at.state, [Lane((0,), Parts(lambda: watched))], Stopping(), n)

    def _watched(self, blocks: Iterator[Block], at: Standing, counts: NDArray[np.integer]) -> Iterator[Block]:
        """The blocks, with a warning of the first that has one class where others should be."""
        shares, said = counts / max(counts.sum(), 1), False
        for block in blocks:
            if not said and len(block) and (block.codes == block.codes[0]).all():
                said = len(block) * (1.0 - shares[block.codes[0]]) > EXPECTED
                if said:
                    shuffle = "shuffle the rows first" + ("" if self.shuffle else ", or set shuffle=True")
                    warn(
                        f"{len(block):,} rows in succession are of class '{at.classes[block.codes[0]]}'. In the order "
                        f"of the classes a learner of one pass forgets the classes before: {shuffle}.",
                        OrderWarning,
                    )
            yield block

    def _answer(self, at: Standing) -> tuple[Floats, Floats]:
        memory: Memory = at.state.memory
        return memory.slopes, memory.intercepts

    def _copied(self) -> Past:
        return replace(self._state)  # type: ignore[no-any-return]

    def _updates(self) -> int:
        return self._state.blocks  # type: ignore[no-any-return]
