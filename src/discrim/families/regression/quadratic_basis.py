"""Least squares on the columns with their squares and products."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import isqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.families.gaussian.recipe import Statistic
from discrim.families.recipe import LeftOut, Passes, Reduction, Shape, Solved
from discrim.families.regression.recipe import LeastSquaresRecipe
from discrim.families.rule import Output, Rule
from discrim.store.fields import Fields, Incoming, damaged
from discrim.store.kinds import Of
from discrim.typing import Floats

# Rows that are expanded at once.
ROWS = 8192


def expand(x: NDArray[Any]) -> NDArray[Any]:
    """Columns x_i, then x_i x_j for i <= j."""
    i, j = np.triu_indices(x.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):  # reported later, with the names of the columns
        return np.concatenate([x, x[:, i] * x[:, j]], axis=1)


def expanded_names(names: list[str]) -> list[str]:
    pairs = zip(*np.triu_indices(len(names)), strict=True)
    return names + [f"{names[i]}^2" if i == j else f"{names[i]}:{names[j]}" for i, j in pairs]


@dataclass(frozen=True, eq=False)
class QuadraticBasisRecipe(LeastSquaresRecipe):
    """Least squares on the expanded columns. Rows are expanded block by block, and never kept."""

    def reduction(self, shape: Shape, like: Statistic | None = None) -> Reduction[Any]:
        return ExpandedOf(super().reduction(_expanded(shape), like))

    def estimate(self, statistic: Statistic, shape: Shape, passes: Passes | None) -> Solved:
        solved = super().estimate(statistic, _expanded(shape), passes)
        return replace(solved, rule=QuadraticBasisRule(solved.rule))

    def factors(self) -> Reduction[Any]:
        return ExpandedOf(super().factors())

    def held_out(self, solved: Solved, shape: Shape) -> LeftOut | None:
        of_expanded = super().held_out(solved, _expanded(shape))
        return None if of_expanded is None else lambda block: of_expanded(_of_block(block))


@dataclass(frozen=True)
class QuadraticBasisRule(Rule):
    """The scores of ``inner`` for the expanded columns."""

    kind = "quadratic basis"
    stored: ClassVar[Fields] = {"inner": Of(Rule, {"K": "K", "p": "q"})}
    bulky = True

    inner: Rule

    def check_stored(self, file: Incoming) -> None:
        """p columns have p (p + 3) / 2 columns, squares and products."""
        wide = file.letters["q"]
        columns = (isqrt(9 + 8 * wide) - 3) // 2
        if columns * (columns + 3) != 2 * wide:
            raise damaged("inner", "has a number of columns that squares and products do not make")
        file.bind("p", columns, "inner")

    @property
    def constant(self) -> Floats:
        return self.inner.constant

    def joined(self, rules: Sequence[Rule], weights: tuple[float, float]) -> QuadraticBasisRule | None:
        alike = [rule.inner for rule in rules if isinstance(rule, QuadraticBasisRule)]
        joint = self.inner.joined(alike, weights) if len(alike) == len(rules) else None
        return None if joint is None else QuadraticBasisRule(joint)

    def scores(self, x: NDArray[Any]) -> Floats:
        return self.inner.scores(expand(x))

    def fill(self, x: NDArray[Any], output: Output, out: NDArray[Any]) -> bool:
        return self.inner.fill(expand(x), output, out)

    def contributions(self, x: Any) -> Floats | None:
        """From the origin o of the columns on: (x_j - o_j) times the slope at (x + o) / 2."""
        linear, p = self.inner.linear, x.shape[1]
        if linear is None:
            return None
        squares = np.zeros((len(linear.coef), p, p))
        squares[:, *np.triu_indices(p)] = linear.coef[:, p:]
        origin = linear.origin[:p]
        slope = np.einsum("kij,nj->nki", squares + squares.transpose(0, 2, 1), 0.5 * (x + origin))
        return np.asarray((x - origin)[:, None, :] * (linear.coef[:, :p] + slope))


@dataclass(frozen=True)
class ExpandedOf:
    """A reduction of the expanded columns."""

    inner: Reduction[Any]

    @property
    def uses_blas(self) -> bool:
        return self.inner.uses_blas

    @property
    def light(self) -> bool:
        return False

    def of(self, block: Block) -> Any:
        parts = [block.rows(start, start + ROWS) for start in range(0, max(len(block), 1), ROWS)]
        return self.inner.merge([self.inner.of(_of_block(part)) for part in parts])

    def merge(self, states: Sequence[Any]) -> Any:
        return self.inner.merge(states)

    def numbers(self, shape: Any) -> int:
        return self.inner.numbers(_expanded(shape))

    def by_class(self) -> ExpandedOf | None:
        inner = self.inner.by_class()
        return None if inner is None else ExpandedOf(inner)

    def covers(self, other: Any) -> bool:
        return isinstance(other, ExpandedOf) and self.inner.covers(other.inner)

    def narrow(self, state: Any) -> Any:
        return self.inner.narrow(state)


class ExpandedColumns(NamedTuple):
    """Squares and products beside the columns themselves."""

    n_out: int
    names_out: list[str]
    dtype: np.dtype[Any]

    def names_at(self, places: Iterable[int]) -> list[str]:
        return [self.names_out[j] for j in places]


def _expanded(shape: Shape) -> Shape:
    names = expanded_names(shape.columns.names_out)
    return replace(shape, columns=ExpandedColumns(len(names), names, shape.columns.dtype))


def _of_block(block: Block) -> Block:
    return replace(block, x=expand(block.dense()))
