"""The way in for text: a folder, a column of a table, or strings in memory become ``Documents``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from discrim.errors import DataError, ParameterError
from discrim.text.block import BATCH, Documents
from discrim.text.column import ColumnDocuments, Columns
from discrim.text.folder import FolderDocuments
from discrim.text.strings import StringDocuments


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
    labels. Names that start with a dot are passed over. Files come folder by folder, by name; each is read as
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
        columns = Columns(text, target, weight)
        return ColumnDocuments(data, columns, empty=missing == "empty", batch_rows=batch_rows)
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
