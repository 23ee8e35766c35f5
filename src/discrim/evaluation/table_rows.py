"""Rows of any container that can be taken by number."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing, check_consistent_length

from discrim.errors import DataError
from discrim.sources import Scan, check_structure, code_labels, in_memory, open_rows, refuse_path
from discrim.sources.rows import check_labelled
from discrim.typing import Index


class TableRows:
    """Rows and labels in memory, whatever they came in; a scan is read."""

    def __init__(self, X: Any, y: Any) -> None:
        if isinstance(X, Scan):
            check_labelled(X)
            block = in_memory(open_rows(X, y), first_read=True)
            self._x: Any = block.x
            self.classes, self.codes = block.classes, block.codes
        else:
            if y is None:
                raise DataError("Labels are needed: y is None.")
            refuse_path(X, y)
            check_structure(X)
            check_consistent_length(X, y)
            self._x = X
            self.classes, self.codes = code_labels(y)

    @property
    def n(self) -> int:
        return len(self.codes)

    def take(self, rows: Index) -> tuple[Any, NDArray[Any]]:
        """These rows and their labels."""
        return _safe_indexing(self._x, rows), self.classes[self.codes[rows]]

    def error(self, fitted: Any, rows: Index) -> float:
        """Share of these rows that the model takes for another class."""
        X, y = self.take(rows)
        return float(np.mean(fitted.predict(X) != y))
