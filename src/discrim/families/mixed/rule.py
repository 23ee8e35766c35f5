"""Naive Bayes as an additive rule: a constant for each class, and one term for each column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.block import Mixed
from discrim.families.mixed.terms import LevelTerm, Term
from discrim.families.rule import Output, Rule
from discrim.typing import Floats

# Numbers beyond this cannot be squared.
HUGE = 1e150


@dataclass(frozen=True)
class AdditiveRule(Rule):
    """score_k(x) = offset_k + sum_j term_jk(x_j); columns are ``levelled`` or numbers, in the order of the schema.

    A row that no class can have says nothing: its scores are the constants.
    """

    kind = "additive"
    reads = "mixed"

    offset: Floats
    terms: tuple[Term, ...]
    levelled: tuple[bool, ...]

    @property
    def constant(self) -> Floats:
        return self.offset

    def scores(self, x: Any) -> Floats:
        return np.ascontiguousarray(self._by_class(x)[0].T)

    def fill(self, x: Any, output: Output, out: NDArray[Any]) -> bool:
        scores, finite = self._by_class(x)
        if output is Output.BEST:
            out[:] = scores.argmax(axis=0)
            return finite
        if output is not Output.SCORES:
            scores -= scores.max(axis=0)
            if output is Output.POSTERIOR:
                np.exp(scores, out=scores)
                scores /= scores.sum(axis=0)
            else:
                scores -= np.log(np.exp(scores).sum(axis=0))
        out[:] = scores.T
        return finite

    def contributions(self, x: Mixed) -> Floats:
        """The terms by themselves, n x K x p."""
        result = np.empty((x.shape[0], len(self.offset), len(self.terms)))
        for j, (term, values) in enumerate(zip(self.terms, self._columns(x), strict=True)):
            result[:, :, j] = term.log_likelihood(values).T
        return result

    def described(self) -> tuple[str, dict[str, Any]]:
        return self.kind, {
            "offset": self.offset,
            "levelled": self.levelled,
            "terms": tuple(term.described() for term in self.terms),
        }

    def _by_class(self, x: Mixed) -> tuple[Floats, bool]:
        """K x n; False where numbers are infinite, or too large to be squared."""
        scores = np.repeat(self.offset[:, None], x.shape[0], axis=1)
        for term, values in zip(self.terms, self._columns(x), strict=True):
            if isinstance(term, LevelTerm):
                term.add_to(scores, values)
            else:
                scores += term.log_likelihood(values)
        lost = ~np.isfinite(scores.max(axis=0)) | np.isnan(scores).any(axis=0)
        if not lost.any():
            return scores, not np.isinf(x.numbers).any()
        scores[:, lost] = self.offset[:, None]
        finite = not (np.abs(np.nan_to_num(x.numbers[lost])) > HUGE).any()
        return scores, finite and not np.isinf(x.numbers).any()

    def _columns(self, x: Mixed) -> list[Any]:
        levels, numbers = iter(x.levels), iter(x.numbers.T)
        return [next(levels) if levelled else next(numbers) for levelled in self.levelled]
