"""A scan whose columns are functions of another's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block, rows_per_block
from discrim.errors import DataError, name_list
from discrim.sources.design import Column, Design, refuse_lacking
from discrim.sources.scan import Scan

T = TypeVar("T")
Map = Callable[[NDArray[Any]], NDArray[Any]]


class MappedScan(Scan):
    """The rows of ``inner`` with the columns that ``of`` makes of theirs, block by block.

    Nothing is kept: every read reads ``inner`` and maps again.
    """

    def __init__(self, inner: Scan, of: Map, names: Sequence[str], keep: Sequence[int] | None = None) -> None:
        self.features = list(names) if keep is None else [names[j] for j in keep]
        self.target, self.weight, self.offset = inner.target, inner.weight, inner.offset
        self._inner, self._of, self._all, self._keep = inner, of, list(names), keep

    @property
    def n_rows(self) -> int | None:  # type: ignore[override]
        return self._inner.n_rows

    @property
    def about(self) -> int | None:  # type: ignore[override]
        return self._inner.about

    def count(self) -> int | None:
        return self._inner.count()

    @property
    def design(self) -> Design:
        return Design([Column(name) for name in self.features], self._inner.design.dtype)

    @property
    def rereadable(self) -> bool:
        return self._inner.rereadable

    @property
    def named(self) -> bool:
        """The columns of a basis have names for the summary, but come without them from arrays and frames."""
        return False

    @property
    def lies_elsewhere(self) -> bool:
        return self._inner.lies_elsewhere

    def holding(self) -> AbstractContextManager[None]:
        return self._inner.holding()

    def reduced_elsewhere(
        self, of: Callable[[Scan], T], merge: Callable[[list[T]], T], state_bytes: int = 0
    ) -> T | None:
        mapped = partial(_of_mapped, of, self._of, self._all, self._keep)
        return self._inner.reduced_elsewhere(mapped, merge, state_bytes)

    def with_design(self, design: Design) -> Scan:
        if not design.named:
            design.check_width(len(self.features))
            return self
        refuse_lacking(design.names_in, self.features)
        return self.with_features(design.names_in)

    def with_features(self, features: Sequence[str]) -> Scan:
        unknown = [name for name in features if name not in self._all]
        if unknown:
            raise DataError(f"The basis has no column {name_list(unknown)}. It has {name_list(self._all, 20)}.")
        return MappedScan(self._inner, self._of, self._all, [self._all.index(name) for name in features])

    def first_table(self, fewest: int) -> None:  # noqa: ARG002 - blocks are made of numbers, not of columns
        return None

    def with_numbers(self, names: Sequence[str]) -> Scan:  # noqa: ARG002 - all columns are numbers
        return self

    def with_offset(self, name: str) -> Scan:
        if name in self._inner.features:
            raise DataError(
                f"The basis is made of '{name}' too, which cannot be the offset. Scan without this feature."
            )
        return MappedScan(self._inner.with_offset(name), self._of, self._all, self._keep)

    def recognised_by(self) -> None:
        raise DataError(
            "A checkpoint cannot recognise columns that a basis or a formula makes of others. Leave checkpoint out, or "
            "write these columns to a file."
        )

    def numbered_pieces(
        self, most_rows: int | None = None, *, after: int = 0
    ) -> Iterator[tuple[int, Callable[[], Block]]]:
        wide = rows_per_block(len(self._all))
        for row, piece in self._inner.numbered_pieces(wide if most_rows is None else min(wide, most_rows), after=after):
            yield row, partial(self._mapped, piece)

    def __repr__(self) -> str:
        return f"{self._inner!r} in {len(self.features)} columns of a basis"

    def _mapped(self, piece: Callable[[], Block]) -> Block:
        block = piece()
        x = self._of(np.asarray(block.x))
        return replace(block, x=x if self._keep is None else x[:, list(self._keep)])


def _of_mapped(of: Callable[[Scan], T], mapped: Map, names: list[str], keep: Sequence[int] | None, part: Scan) -> T:
    return of(MappedScan(part, mapped, names, keep))
