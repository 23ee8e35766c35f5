"""What every source of documents gives: blocks of texts with their labels and weights."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.errors import DataError

# Documents of a block, where nobody says otherwise. A block also ends after so many characters, or bytes of files.
BATCH = 1024
CHARACTERS = 1 << 23


@dataclass(frozen=True, slots=True)
class DocumentBlock:
    """Some documents, with one label and one weight each where there are any."""

    texts: list[str]
    labels: NDArray[Any] | None = None
    weight: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.texts)


class Documents(ABC):
    """Documents that are read block by block, always in the same order; made by ``documents``.

    ``n_rows`` is None where nobody knows it before the last document.
    """

    title: str
    n_rows: int | None = None
    labelled: bool
    rereadable: bool = True

    @abstractmethod
    def blocks(self) -> Iterator[DocumentBlock]: ...

    @abstractmethod
    def classes(self) -> NDArray[Any]:
        """The distinct labels in order, found without reading a text."""

    def __repr__(self) -> str:
        return f"Documents({self.title}{'' if self.labelled else ', without labels'})"


def check_texts(values: Sequence[Any], *, first: int, of: str, empty: bool = False) -> list[str]:
    """The values, if all are strings; with ``empty`` a missing one is a document without a word.

    ``first`` is the number of the first of them in the source ``of``, which errors count from.
    """
    texts = list(values)
    for i, value in enumerate(texts):
        if isinstance(value, str):
            continue
        if not _is_missing(value):
            hint = "Decode it first." if isinstance(value, bytes | bytearray) else "Convert it to a string first."
            raise DataError(
                f"Document {first + i} of {of}, counted from 0, is of the type {type(value).__name__}; "
                f"documents are strings. {hint}"
            )
        if not empty:
            raise DataError(
                f"Document {first + i} of {of}, counted from 0, is missing (None, NaN or null). Remove such "
                "documents, or let them count as empty ones: fill them with '', or documents(..., missing='empty')."
            )
        texts[i] = ""
    return texts


def as_list(column: Any) -> list[Any]:
    """The values of a Series, an Arrow array, an array or a sequence as Python objects."""
    for name in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, name):
            return list(getattr(column, name)())
    return list(column)


def _is_missing(value: Any) -> bool:
    # As pandas' marks of a missing value are written, so that pandas need not be imported to ask.
    unknown = value is None or repr(value) in {"<NA>", "NaT"}
    return unknown or (isinstance(value, float) and value != value)  # noqa: PLR0124 -- only NaN differs from itself
