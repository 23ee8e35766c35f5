"""Documents: a folder, a column of a table, or strings in memory, read as blocks of texts with labels and weights."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discrim.errors import DataError, ParameterError, name_list, plural
from discrim.sources import Column, Design, Scan, check_weights, code_labels
from discrim.sources.opening import open_reader

S = TypeVar("S")
Of = Callable[[Iterator["DocumentBlock"]], S]

# Documents of a block by default. A block also ends after so many characters, or bytes of files.
BATCH = 1024
CHARACTERS = 1 << 23


@dataclass(frozen=True, slots=True)
class DocumentBlock:
    """Some documents, with one label and one weight each where there are any; of files also their ``names``."""

    texts: list[str]
    labels: NDArray[Any] | None = None
    weight: NDArray[np.float64] | None = None
    names: list[str] | None = None

    def __len__(self) -> int:
        return len(self.texts)


class Documents(ABC):
    """Documents that are read block by block, always in the same order; made by ``documents``. There is at least one.

    ``n_rows`` is None where it is not known before the last document. ``column`` is that which they are in, if any.
    """

    title: str
    n_rows: int | None = None
    column: str | None = None
    labelled: bool
    rereadable: bool = True

    @abstractmethod
    def blocks(self) -> Iterator[DocumentBlock]: ...

    @abstractmethod
    def classes(self) -> NDArray[Any]:
        """The distinct labels in order, found without reading a text."""

    def reduced_elsewhere(self, of: Of[S], merge: Callable[[list[S]], S]) -> S | None:  # noqa: ARG002 - they are here
        """``of`` the blocks of each part where it lies, merged in order; None where documents are read here."""
        return None

    def __repr__(self) -> str:
        return f"Documents({self.title}{'' if self.labelled else ', without labels'})"


def documents(
    data: Any,
    *,
    text: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    missing: str = "error",
    batch_rows: int = BATCH,
) -> Documents:
    """Documents of a folder, or of a column of a table, to be read block by block in bounded memory.

    Without ``text``, ``data`` is a folder with one folder per class: the label of a file is the name of the folder
    that it lies in, and files beside these folders are not read. A folder of files alone gives documents without
    labels. Names that start with a dot are left out. Files come folder by folder, by name; each is read as
    UTF-8, and as Latin-1 where it is not valid UTF-8, which never fails but may read a third encoding wrongly.

    With ``text``, ``data`` is anything that ``scan`` reads: CSV (in UTF-8), Parquet and Arrow files, frames, lazy
    tables.

    A block ends after ``batch_rows`` documents; in folders also after eight million bytes. One document is always
    held whole. The order is that of the source, so a folder comes class by class: all the same to naive Bayes, but
    not to models that depend on the order of rows, such as scikit-learn's ``SGDClassifier``.

    Parameters
    ----------
    data : folder, or what ``scan`` takes
    text : str, optional
        The column of documents.
    target : str, optional
        The column of labels; ``fit`` needs it, ``predict`` does not.
    weight : str, optional
        The column of case weights.
    missing : {'error', 'empty'}
        What a missing value in the column of documents is. In CSV files an empty field is one.
    batch_rows : int
        The most documents of a block.

    Examples
    --------
    >>> import polars as pl
    >>> from discrim.text import documents
    >>> mails = pl.DataFrame({"mail": ["cheap pills", "see you at noon"], "kind": ["spam", "ham"]})
    >>> [block.texts for block in documents(mails, text="mail", target="kind", batch_rows=1).blocks()]
    [['cheap pills'], ['see you at noon']]
    """
    if isinstance(batch_rows, bool) or not isinstance(batch_rows, int) or batch_rows < 1:
        raise ParameterError.bad_value("batch_rows", batch_rows, "a positive integer")
    if missing not in ("error", "empty"):
        raise ParameterError.bad_value("missing", missing, "one of 'error', 'empty'")
    if text is not None:
        return ColumnDocuments(data, text, target, weight, empty=missing == "empty", batch_rows=batch_rows)
    if not isinstance(data, str | os.PathLike):
        hint = "the name of the column that holds the documents; strings in memory need no documents(...)"
        raise ParameterError.bad_value("text", None, hint)
    folder = Path(data).expanduser()
    if folder.is_file():
        raise ParameterError.bad_value("text", None, f"the name of the column of '{folder}' that holds the documents")
    if not folder.is_dir():
        raise DataError(f"There is no folder '{folder}'.")
    for name, value in (("target", target), ("weight", weight)):
        if value is not None:
            raise ParameterError.bad_value(name, value, "left out: a folder's labels are the names of its folders")
    return FolderDocuments(folder, batch_rows)


def open_documents(X: Any, y: Any = None, sample_weight: Any = None) -> Documents:
    """``Documents`` as they are, or strings in memory with their labels and weights."""
    if not isinstance(X, Documents):
        return StringDocuments(X, y, sample_weight)
    if y is not None or sample_weight is not None:
        raise DataError(
            "Documents bring their own labels and weights. Name their columns instead: "
            "documents(data, text=..., target=..., weight=...)."
        )
    return X


class ColumnDocuments(Documents):
    """Documents in one column of a table, with labels and weights in others. No other column is read."""

    def __init__(
        self, data: Any, text: str, target: str | None, weight: str | None, *, empty: bool, batch_rows: int
    ) -> None:
        besides = [name for name in (target, weight) if name is not None]
        if len({text, *besides}) <= len(besides):
            raise ParameterError.bad_value("text", text, f"another column than {(target, weight)}")
        reader = open_reader(data)
        # Documents are no levels, which would have to be found first.
        self._scan = Scan(reader, [text], target, weight, batch_rows, _design=Design([Column(text)]))
        for name, head in reader.heads.items():
            if head.kind(text) != "text":
                raise DataError(f"Column '{text}' of '{name}' holds numbers; documents are strings.")
        self.column, self._empty, self._batch_rows = text, empty, batch_rows
        self._source, self.title = reader.title, f"column '{text}' of {reader.title}"
        self.n_rows, self.rereadable, self.labelled = reader.n_rows, reader.rereadable, target is not None

    def blocks(self) -> Iterator[DocumentBlock]:
        return _blocks_of(self._scan, self._batch_rows, self._empty)

    def reduced_elsewhere(self, of: Of[S], merge: Callable[[list[S]], S]) -> S | None:
        part = partial(_of_part, of, self._batch_rows, self._empty)
        return self._scan.reduced_elsewhere(part, merge)

    def classes(self) -> NDArray[Any]:
        target = self._scan.target
        assert target is not None
        if not self.rereadable:
            raise DataError(
                f"The {self._source} can be read only once, but its labels must be known first. "
                "Pass a table or a file instead."
            )
        tables = self._scan.tables([target])
        found = [code_labels(table.labels(target, 0, table.n_rows), column=target)[0] for table in tables]
        return code_labels(np.concatenate(found), column=target)[0]


def _blocks_of(rows: Scan, batch_rows: int, empty: bool) -> Iterator[DocumentBlock]:
    (column,), first = rows.features, 0
    for table in rows.tables():
        for start in range(0, table.n_rows, batch_rows):
            stop = min(start + batch_rows, table.n_rows)
            values = _as_list(table.labels(column, start, stop))
            texts = _check_texts(values, first=first + start, of=f"column '{column}'", empty=empty)
            codes, classes, weight = rows.labels(table, start, stop)
            yield DocumentBlock(texts, classes[codes] if rows.labelled else None, weight)
        first += table.n_rows


def _of_part(of: Of[S], batch_rows: int, empty: bool, rows: Scan) -> S:
    return of(_blocks_of(rows, batch_rows, empty))


class FolderDocuments(Documents):
    """The names of one class are held at a time, so that there may be millions of files."""

    def __init__(self, folder: Path, batch_rows: int) -> None:
        self._folder, self._batch_rows = folder, batch_rows
        self._folders = [path for path in _entries(folder) if path.is_dir()]
        self.labelled = bool(self._folders)
        self.title = f"folder '{folder}'"
        if not self.labelled:
            self._folders = [folder]
        for path in self._folders:
            self._refuse_without_files(path)

    def blocks(self) -> Iterator[DocumentBlock]:
        texts: list[str] = []
        labels: list[str] = []
        names: list[str] = []
        size = 0
        files = ((path, folder.name) for folder in self._folders for path in _entries(folder) if not path.is_dir())
        for path, label in files:
            raw = _read(path)
            if texts and (len(texts) == self._batch_rows or size + len(raw) > CHARACTERS):
                yield self._block(texts, labels, names)
                texts, labels, names, size = [], [], [], 0
            texts.append(_decode(raw, path))
            labels.append(label)
            names.append(path.relative_to(self._folder).as_posix())
            size += len(raw)
        yield self._block(texts, labels, names)

    def classes(self) -> NDArray[Any]:
        return np.unique(np.array([folder.name for folder in self._folders]))

    def _block(self, texts: list[str], labels: list[str], names: list[str]) -> DocumentBlock:
        return DocumentBlock(texts, np.array(labels) if self.labelled else None, names=names)

    def _refuse_without_files(self, folder: Path) -> None:
        entries = _entries(folder)
        if any(not path.is_dir() for path in entries):
            return
        if not entries:
            raise DataError(f"The folder '{folder}' holds no document. Remove it, or put its documents there.")
        raise DataError(
            f"The folder '{folder}' holds no document, only the folders {name_list(path.name for path in entries)}. "
            "Give the folder whose folders are the classes."
        )


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise DataError(f"The folder '{folder}' cannot be read: {error.strerror}.") from error


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"The document '{path}' cannot be read: {error.strerror}.") from error


def _decode(raw: bytes, path: Path) -> str:
    """UTF-8, else Latin-1; a zero byte occurs in neither kind of text."""
    if b"\0" in raw:
        raise DataError(f"The document '{path}' holds zero bytes: it is no text, or UTF-16. Convert it to UTF-8.")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


class StringDocuments(Documents):
    """One string per document. An iterator may be endless, has no labels, and is used up by reading."""

    title = "strings in memory"

    def __init__(self, X: Any, y: Any = None, sample_weight: Any = None) -> None:
        _refuse_other_shapes(X)
        self.labelled = y is not None
        self._texts: Iterable[Any]
        self._labels: NDArray[Any] | None = None
        self._weight: NDArray[np.float64] | None = None
        if isinstance(X, Iterator):
            if y is not None or sample_weight is not None:
                raise DataError("X is an iterator, whose documents cannot be matched with labels. Pass a list.")
            self.title, self.rereadable, self._texts = "iterator", False, X
            return
        self._texts = texts = _as_list(X)
        self.n_rows = len(texts)
        if y is not None:
            classes, codes = code_labels(y)
            self._labels = classes[codes]
            if len(codes) != self.n_rows:
                raise ValueError(
                    f"Found input variables with inconsistent numbers of samples: [{self.n_rows}, {len(codes)}]"
                )
        self._weight = check_weights(sample_weight, self.n_rows)

    def blocks(self) -> Iterator[DocumentBlock]:
        start, left = 0, iter(self._texts)
        while part := list(islice(left, BATCH)):
            rows = slice(start, start + len(part))
            labels = None if self._labels is None else self._labels[rows]
            weight = None if self._weight is None else self._weight[rows]
            yield DocumentBlock(_check_texts(part, first=start, of="X"), labels, weight)
            start += len(part)
        if not start:
            raise DataError("There are no documents: X is empty.")

    def classes(self) -> NDArray[Any]:
        assert self._labels is not None
        return code_labels(self._labels)[0]


def _refuse_other_shapes(X: Any) -> None:
    if isinstance(X, str | bytes):
        raise DataError(
            "X is a single string. Pass a list of documents, a folder as documents(X), or a file as "
            "documents(X, text=..., target=...)."
        )
    dimensions = getattr(X, "ndim", 2 if hasattr(X, "columns") else 1)
    if dimensions != 1:
        raise DataError(
            f"X has {plural(dimensions, 'dimension')}; documents are one string per row. Pass one column of the "
            "table, such as X['text'], or documents(X, text='text')."
        )
    if isinstance(X, Mapping | AbstractSet) or not (hasattr(X, "__iter__") or hasattr(X, "to_pylist")):
        raise DataError(f"X is of the type {type(X).__name__}. Pass a list of documents.")


def _check_texts(values: Sequence[Any], *, first: int, of: str, empty: bool = False) -> list[str]:
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


def _as_list(column: Any) -> list[Any]:
    """The values of a Series, an Arrow array, an array or a sequence as Python objects."""
    for name in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, name):
            return list(getattr(column, name)())
    return list(column)


def _is_missing(value: Any) -> bool:
    # Marks of a missing value by their text, so that pandas need not be imported.
    unknown = value is None or repr(value) in {"<NA>", "NaT"}
    return unknown or (isinstance(value, float) and value != value)  # noqa: PLR0124 -- only NaN differs from itself
