"""What all models of class moments share: the depth of the scatter, and R-factors where it lost digits."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

from discrim.block import Block
from discrim.engines import reduce_blocks
from discrim.errors import DataError, ForgetError, warn
from discrim.families.gaussian.covariance import IllConditionedError
from discrim.families.gaussian.recipe import rounded
from discrim.families.recipe import Shape
from discrim.families.rule import Rule
from discrim.models.mergeable import MergeableClassifier
from discrim.models.scoring import non_finite_error
from discrim.parallel import blas_threads, one_blas_thread
from discrim.sources import Rows
from discrim.statistics import ClassFactors, ClassMoments, Depth, merge_factors, merge_moments

Statistic = ClassMoments | ClassFactors


class OnePassClassifier(MergeableClassifier[Statistic]):
    """A classifier whose statistic is class weights, means and scatter.

    A subclass says how deep the statistic must be, and how it is solved.
    """

    # A statistic of variances alone is as small for wide data as for long.
    _thin_for_wide: ClassVar[bool] = True

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

    def _collect(self, rows: Rows, like: Statistic | None) -> Statistic:
        return self._reduce(rows, thin=isinstance(like, ClassFactors))

    def _combine(self, parts: Sequence[Statistic]) -> Statistic:
        return self._to_depth(combine(parts))

    def _subtract(self, gone: Statistic) -> Statistic:
        if self.statistic_.depth is Depth.POOLED:
            gone = gone.pooled()
        if isinstance(self.statistic_, ClassMoments) and isinstance(gone, ClassFactors):
            gone = gone.to_moments()
        try:
            return self.statistic_.subtract(gone)  # type: ignore[arg-type]
        except ForgetError as error:
            raise error.named(self._names) from None

    def _check_form(self, statistic: Statistic) -> Statistic:
        statistic, needed = self._to_depth(statistic), self._depth()
        if statistic.depth is not needed and (statistic.depth, needed) != (Depth.FULL, Depth.POOLED):
            raise DataError(
                f"{type(self).__name__} with these parameters needs a statistic of depth '{needed}'; "
                f"this one has depth '{statistic.depth}'."
            )
        return statistic

    def _reduce(self, rows: Rows, *, thin: bool) -> Statistic:
        """One pass over the rows."""
        known, p = None if rows.classes is None else len(rows.classes), rows.design.n_out
        depth = self._depth(known)
        wide = self._thin_for_wide and rows.n_rows is not None and rows.n_rows <= p
        statistic: Statistic
        if thin or wide:
            with one_blas_thread():
                statistic = reduce_blocks(rows, partial(self._of_block, ClassFactors), combine)
        else:
            size = 8 * {Depth.DIAGONAL: p, Depth.POOLED: p * p, Depth.FULL: (known or 2) * p * p}[depth]
            statistic = reduce_blocks(rows, partial(self._of_block, ClassMoments), combine, state_bytes=size)
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

    def _solved(self, statistic: Statistic, rows: Rows | None) -> tuple[Rule, Statistic]:
        """Solve, and once more from R-factors where the scatter has lost too many digits."""
        reread = rows is not None and rows.rereadable and isinstance(statistic, ClassMoments)
        with blas_threads(min(int(statistic.rows.sum()), statistic.n_features)):
            try:
                rule = self._solve(statistic, rows, reread=reread)
            except IllConditionedError:
                assert rows is not None
                statistic = self._with_declared(self._reduce(rows, thin=True))
                rule = self._solve(statistic, rows, reread=False)
            remark = rounded(statistic, Shape(self._design))
            if remark is not None:
                warn(*remark)
        return rule, statistic


def combine(parts: Sequence[Statistic]) -> Statistic:
    """Merge statistics; with a moment among them factors are squared, and of two depths the lesser is taken."""
    if {part.depth for part in parts} == {Depth.FULL, Depth.POOLED}:
        parts = [part.pooled() for part in parts]
    factors = [part for part in parts if isinstance(part, ClassFactors)]
    if len(factors) == len(parts):
        return merge_factors(factors)
    return merge_moments([part.to_moments() if isinstance(part, ClassFactors) else part for part in parts])
