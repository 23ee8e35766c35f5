"""Strings in memory as documents: a list, an array, a Series, or an iterator that is read once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.errors import DataError, plural
from discrim.sources import check_weights, code_labels
from discrim.text.block import BATCH, DocumentBlock, Documents, as_list, check_texts


class StringDocuments(Documents):
    """One string per document. An iterator may be endless, has no labels, and is used up by reading."""

    title = "strings in memory"

    def __init__(self, X: Any, y: Any = None, sample_weight: Any = None) -> None:
        _refuse_other_shapes(X)
        self.labelled = y is not None
        self._labels: NDArray[Any] | None = None
        self._weight: NDArray[np.float64] | None = None
        self._iterator: Iterator[Any] | None = None
        if isinstance(X, Iterator):
            self._take_iterator(X, y, sample_weight)
            return
        self._texts = as_list(X)
        self.n_rows = len(self._texts)
        if not self.n_rows:
            raise DataError("There are no documents: X is empty.")
        if y is not None:
            classes, codes = code_labels(y)
            self._labels = classes[codes]
            if len(codes) != self.n_rows:
                raise ValueError(
                    f"Found input variables with inconsistent numbers of samples: [{self.n_rows}, {len(codes)}]"
                )
        self._weight = check_weights(sample_weight, self.n_rows)

    def blocks(self) -> Iterator[DocumentBlock]:
        if self._iterator is not None:
            yield from self._blocks_of_iterator()
            return
        for start in range(0, len(self._texts), BATCH):
            part = slice(start, start + BATCH)
            labels = None if self._labels is None else self._labels[part]
            weight = None if self._weight is None else self._weight[part]
            yield DocumentBlock(check_texts(self._texts[part], first=start, of="X"), labels, weight)

    def classes(self) -> NDArray[Any]:
        assert self._labels is not None
        return code_labels(self._labels)[0]

    def _take_iterator(self, X: Iterator[Any], y: Any, sample_weight: Any) -> None:
        if y is not None or sample_weight is not None:
            raise DataError("X is an iterator, whose documents cannot be matched with labels. Pass a list.")
        self.title, self.rereadable, self._iterator = "iterator", False, X

    def _blocks_of_iterator(self) -> Iterator[DocumentBlock]:
        assert self._iterator is not None
        start = 0
        while part := list(islice(self._iterator, BATCH)):
            yield DocumentBlock(check_texts(part, first=start, of="X"))
            start += len(part)


def _refuse_other_shapes(X: Any) -> None:
    if isinstance(X, str | bytes):
        raise DataError("X is a single string. Pass a list of documents, or a folder through documents(X).")
    dimensions = getattr(X, "ndim", 2 if hasattr(X, "columns") else 1)
    if dimensions != 1:
        raise DataError(
            f"X has {plural(dimensions, 'dimension')}; documents are one string per row. Pass one column of the "
            "table, such as X['text'], or documents(X, text='text')."
        )
    if isinstance(X, Mapping | AbstractSet) or not (hasattr(X, "__iter__") or hasattr(X, "to_pylist")):
        raise DataError(f"X is of the type {type(X).__name__}. Pass a list of documents.")
