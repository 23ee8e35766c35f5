"""What all one-pass classifiers share: rows in, statistic, solve, rule, answers out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from discrim.engines import blas_threads, one_blas_thread, reduce
from discrim.errors import DataError, DiscrimError, ParameterError, name_list
from discrim.models.classifier import Classifier
from discrim.models.parameters import check_parameters
from discrim.models.scoring import non_finite_error
from discrim.solvers.rules import Rule
from discrim.solvers.sphering import IllConditionedError
from discrim.sources import Block, Design, Rows, code_labels
from discrim.statistics import ClassFactors, ClassMoments, Depth, merge_factors, merge_moments

Statistic = ClassMoments | ClassFactors


class OnePassClassifier(Classifier):
    """A classifier that needs the data only through ``statistic_``.

    A subclass says how deep the statistic must be, and how it is solved; fitting in parts, forgetting,
    merging and scoring follow.
    """

    # A statistic of variances alone is as small for wide data as for long.
    _thin_for_wide: ClassVar[bool] = True

    statistic_: Statistic
    _unsolved: DiscrimError | None

    @abstractmethod
    def _depth(self, classes: int | None = None) -> Depth:
        """The scatter that these parameters need at least; with so many classes, the one worth collecting."""

    @abstractmethod
    def _solve(self, statistic: Statistic, rows: Rows | None, *, reread: bool) -> Rule:
        """Set the fitted attributes and give the rule.

        ``rows`` are the training rows where they are at hand. With ``reread`` an IllConditionedError asks
        for R-factors instead of moments.
        """

    def _needs_rows(self) -> bool:
        """Do these parameters need more of the rows than the statistic?"""
        return False

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows X with labels y, or from a ``scan``, which brings its own labels and weights."""
        check_parameters(self, self._constraints)
        # A fit that fails leaves no model: neither the old one, nor a mixture of both.
        for name in ("statistic_", "classes_", "_declared"):
            self.__dict__.pop(name, None)
        rows = self._open(X, y, sample_weight, reset=True)
        statistic = self._reduce(rows, thin=False)
        self._learn(statistic, rows)
        return self

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows: any number of parts gives what one fit of all rows gives.

        A class that was not there before is added, unless ``classes`` was given: then labels outside it
        are an error.
        """
        check_parameters(self, self._constraints)
        first = not hasattr(self, "statistic_")
        rows = self._open(X, y, sample_weight, reset=first)
        declared = self._known_classes(classes)
        thin = not first and isinstance(self.statistic_, ClassFactors)
        statistic = self._reduce(rows, thin=thin)
        if declared is not None:
            _check_declared(statistic, declared)
            self._declared = declared
        if not first:
            statistic = self._to_depth(combine([self.statistic_, statistic]))
        self._learn(statistic, None)
        return self

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Unlearn rows: the model becomes what it would be had it never seen them."""
        check_is_fitted(self, "statistic_")
        rows = self._open(X, y, sample_weight, reset=False)
        gone = self._reduce(rows, thin=isinstance(self.statistic_, ClassFactors))
        if self.statistic_.depth is Depth.POOLED:
            gone = gone.pooled()
        if isinstance(self.statistic_, ClassMoments) and isinstance(gone, ClassFactors):
            gone = gone.to_moments()
        left = self.statistic_.subtract(gone)  # type: ignore[arg-type]
        if not len(left.classes):
            raise DataError("Nothing would be left: all rows that the model has seen are to be forgotten.")
        self._learn(left, None)
        return self

    @classmethod
    def from_statistic(cls, statistic: Statistic, **parameters: Any) -> Self:
        """A fitted model from a statistic alone."""
        model = cls(**parameters)
        check_parameters(model, model._constraints)
        statistic, needed = model._to_depth(statistic), model._depth()
        if statistic.depth is not needed and (statistic.depth, needed) != (Depth.FULL, Depth.POOLED):
            raise DataError(
                f"{cls.__name__} with these parameters needs a statistic of depth '{needed}'; "
                f"this one has depth '{statistic.depth}'."
            )
        model.n_features_in_ = statistic.n_features
        model._design = Design.unnamed(statistic.n_features, np.float64)
        model._learn(statistic, None)
        return model

    def _reduce(self, rows: Rows, *, thin: bool) -> Statistic:
        """One pass over the rows."""
        known, p = None if rows.classes is None else len(rows.classes), rows.design.n_out
        depth = self._depth(known)
        wide = self._thin_for_wide and rows.n_rows is not None and rows.n_rows <= p
        statistic: Statistic
        if thin or wide:
            with one_blas_thread():
                statistic = reduce(rows, partial(self._of_block, ClassFactors), combine)
        else:
            size = 8 * {Depth.DIAGONAL: p, Depth.POOLED: p * p, Depth.FULL: (known or 2) * p * p}[depth]
            statistic = reduce(rows, partial(self._of_block, ClassMoments), combine, state_bytes=size)
        statistic = self._to_depth(statistic)
        if not statistic.finite:
            raise non_finite_error(rows) or DataError(
                "The sums of squares of X overflow or X holds NaN or infinity. Scale the columns or clean them."
            )
        return statistic

    def _of_block(self, kind: type[Any], block: Block) -> Statistic:
        statistic: Statistic = kind.of(block, self._depth(len(block.classes)))
        return statistic

    def _to_depth(self, statistic: Statistic) -> Statistic:
        """Without what so many classes do not need; what was never collected stays unknown."""
        pool = statistic.depth is Depth.FULL and self._depth(len(statistic.classes)) is Depth.POOLED
        return statistic.pooled() if pool else statistic

    def _learn(self, statistic: Statistic, rows: Rows | None) -> None:
        """Solve, and once more from R-factors where the scatter has lost too many digits."""
        statistic = self._with_declared(statistic)
        self.classes_ = statistic.classes
        self._unsolved = None
        reread = rows is not None and rows.rereadable and isinstance(statistic, ClassMoments)
        try:
            with blas_threads(min(int(statistic.rows.sum()), statistic.n_features)):
                try:
                    self._rule = self._solve(statistic, rows, reread=reread)
                except IllConditionedError:
                    assert rows is not None
                    statistic = self._with_declared(self._reduce(rows, thin=True))
                    self._rule = self._solve(statistic, rows, reread=False)
        except (DataError, ParameterError) as error:
            if rows is not None:
                self.__dict__.pop("classes_", None)
                raise
            # More parts may come that make it solvable: the sum is kept, the error told when asked.
            self._unsolved = error
        self.statistic_ = statistic

    def _check_solved(self) -> Self:
        check_is_fitted(self, "statistic_")
        if self._unsolved is not None:
            raise self._unsolved
        return self

    def _known_classes(self, classes: Any) -> NDArray[Any] | None:
        """The classes that were declared, now or before; two lists that differ are an error."""
        before: NDArray[Any] | None = getattr(self, "_declared", None)
        if classes is None:
            return before
        declared = code_labels(classes)[0]
        if before is not None and not np.array_equal(before, declared):
            raise ParameterError(
                f"`classes` ({name_list(declared)}) is not the same as on last call to partial_fit, when it was "
                f"{name_list(before)}. Give the same classes, or leave them out."
            )
        return declared

    def _with_declared(self, statistic: Statistic) -> Statistic:
        declared = getattr(self, "_declared", None)
        return statistic if declared is None else statistic.including(declared)


def combine(parts: Sequence[Statistic]) -> Statistic:
    """Merge statistics; with a moment among them factors are squared, and of two depths the lesser is taken."""
    if {part.depth for part in parts} == {Depth.FULL, Depth.POOLED}:
        parts = [part.pooled() for part in parts]
    factors = [part for part in parts if isinstance(part, ClassFactors)]
    if len(factors) == len(parts):
        return merge_factors(factors)
    return merge_moments([part.to_moments() if isinstance(part, ClassFactors) else part for part in parts])


def _check_declared(statistic: Statistic, declared: NDArray[Any]) -> None:
    strange = statistic.classes[~np.isin(statistic.classes, declared)]
    if len(strange):
        raise DataError(
            f"The target label(s) {name_list(strange)} in y do not exist in the initial classes "
            f"{name_list(declared)}. Leave `classes` out to let new classes in."
        )
