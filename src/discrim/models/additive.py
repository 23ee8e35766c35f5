"""What the naive Bayes models of mixed columns share: reading them, and scores that are sums over the columns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, validate_data

from discrim.block import MixedBlock
from discrim.engines import reduce_blocks
from discrim.errors import DataError
from discrim.families.priors import log_priors, resolve_priors
from discrim.families.rule import Output
from discrim.models.mergeable import Mergeable, MergeableClassifier
from discrim.solvers.additive import AdditiveRule
from discrim.sources import MixedRows, Piece, Rows, Scan, Schema, find_infinite, is_query, open_mixed, scan
from discrim.sources.rows import check_labelled
from discrim.statistics import ClassCounts
from discrim.typing import Floats

S = TypeVar("S", bound=Mergeable)
T = TypeVar("T")

# Numbers beyond this cannot be squared.
_HUGE = 1e150


class AdditiveClassifier(MergeableClassifier[S]):
    """A naive Bayes model whose columns are numbers or levels.

    A subclass says which columns are read as levels, how a block is reduced, and how the statistic is solved.
    """

    _rule: AdditiveRule  # type: ignore[assignment]
    _design: Schema  # type: ignore[assignment]

    @abstractmethod
    def _levelled(self, schema: Schema) -> Sequence[bool]:
        """Which columns are read as levels; sets what the model has to remember of the choice."""

    @abstractmethod
    def _of_block(self, block: MixedBlock) -> S:
        """The statistic of one block."""

    @abstractmethod
    def _checked(self, block: MixedBlock) -> MixedBlock:
        """The block as the model takes it, or an error that names the column of a value that it cannot take."""

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Scores n x K (log posteriors up to a constant); for two classes, the second minus the first, n."""
        scores = self._apply(X, Output.SCORES)
        if len(self.classes_) == 2:
            return np.asarray(scores[:, 1] - scores[:, 0])
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_joint_log_proba(self, X: Any) -> NDArray[Any]:
        """log pi_k + log likelihood of the row in class k, n x K."""
        return self._apply(X, Output.SCORES)

    def contributions(self, X: Any) -> Floats:
        """What each column adds to the score of each class, n x K x p: log p(x_j | class k).

        With ``class_log_prior_`` they sum to ``predict_joint_log_proba``; differences between two classes are the
        terms of their log odds. A missing value adds nothing.
        """
        self._check_solved()
        rows = self._open(X, None, None, reset=False, labelled=False)
        return np.concatenate(self._each(rows, self._rule.contributions))

    def _collect(self, rows: Rows, like: S | None) -> S:  # noqa: ARG002 - all statistics are of one form
        def of(piece: Any) -> S:
            return self._of_block(self._checked(piece.read()))

        statistic: S = reduce_blocks(rows, of, self._combine)
        return statistic

    def _apply(self, X: Any, output: Output) -> NDArray[Any]:
        self._check_solved()
        rows = self._open(X, None, None, reset=False, labelled=False)
        return np.concatenate(self._each(rows, lambda block: answers(self._scores(block), output)))

    def _scores(self, block: MixedBlock) -> Floats:
        """K x n; a row that no class can have says nothing."""
        scores = self._rule.scores(block)
        lost = ~np.isfinite(scores.max(axis=0)) | np.isnan(scores).any(axis=0)
        if lost.any():
            if (np.abs(np.nan_to_num(block.numbers[lost])) > _HUGE).any():
                raise _OverflowError
            scores[:, lost] = self._rule.offset[:, None]
        return scores

    def _each(self, rows: Any, of: Callable[[MixedBlock], T]) -> list[T]:
        """``of`` every block, in the order of the rows."""

        def one(piece: Piece) -> list[T]:
            block = self._checked(piece.read())
            if not np.isfinite(block.numbers).all() and np.isinf(block.numbers).any():
                raise _OverflowError
            return [of(block)]

        try:
            return reduce_blocks(rows, one, _joined)  # type: ignore[arg-type]
        except _OverflowError:
            raise self._non_finite(rows) from None

    def _non_finite(self, rows: MixedRows) -> DataError:
        found = find_infinite(rows) if rows.rereadable else None
        return found or DataError(
            "Values of X are infinite or too large to be squared. Clean the rows, or scale the columns before fitting."
        )

    def _open(self, X: Any, y: Any, sample_weight: Any, *, reset: bool, labelled: bool = True) -> Any:
        """The rows of X, checked against the columns that the model knows."""
        X = scan(X) if is_query(X, y, sample_weight) else X
        scanned = isinstance(X, Scan)
        if labelled and y is None and not scanned:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        if isinstance(X, (np.ndarray, list, tuple)) and np.ndim(X) != 2:
            check_array(X, ensure_all_finite=False)  # raises, and tells how to reshape
        if not reset and not scanned:
            validate_data(self, X, reset=False, skip_check_array=True)
        rows = open_mixed(X, y, sample_weight, schema=None if reset else self._design)
        if labelled:
            check_labelled(rows)
        if not reset:
            return rows
        rows = rows.reading(self._levelled(rows.design))
        if scanned:
            self.n_features_in_ = len(rows.design.names)
            self.feature_names_in_ = np.array(rows.design.names, dtype=object)
        else:
            validate_data(self, X, reset=True, skip_check_array=True)
        self._design = rows.design
        return rows

    def _log_priors(self, weight: Floats) -> Floats:
        """The logarithms of ``class_prior``, of the shares of the classes, or of equal priors."""
        model: Any = self
        if model.class_prior is None and not model.fit_prior:
            return np.full(len(weight), -np.log(len(weight)))
        return log_priors(resolve_priors(model.class_prior, weight))


def check_levels(names: Sequence[str], known: ClassCounts | None, block: MixedBlock) -> None:
    """Raise for infinity, and for text where levels were numbers or the reverse: all of them would be unknown."""
    fitted = None if known is None else known.levels
    for j, (name, (levels, _)) in enumerate(zip(names, block.levels, strict=True)):
        text = levels.dtype.kind == "U"
        if not text and len(levels) and not np.isfinite(levels[[0, -1]]).all():
            raise DataError(f"Input X contains infinity: column '{name}' must hold categories.")
        if fitted is None or not len(fitted[j]) or not len(levels):
            continue
        if (fitted[j].dtype.kind == "U") != text:
            before, now = ("numbers", "text") if text else ("text", "numbers")
            raise DataError(f"Column '{name}' held {before} when the model was fitted and holds {now} now.")


class _OverflowError(Exception):
    """Some score is not finite: somebody has to look which column it was."""


def _joined(parts: Sequence[list[T]]) -> list[T]:
    return [one for part in parts for one in part]


def answers(scores: Floats, output: Output) -> NDArray[Any]:
    """What is wanted of scores K x n, rows first."""
    if output is Output.BEST:
        return np.asarray(scores.argmax(axis=0))
    if output is Output.SCORES:
        return np.ascontiguousarray(scores.T)
    scores -= scores.max(axis=0)
    likelihood = np.exp(scores)
    total = likelihood.sum(axis=0)
    if output is Output.POSTERIOR:
        return np.ascontiguousarray((likelihood / total).T)
    return np.ascontiguousarray((scores - np.log(total)).T)
