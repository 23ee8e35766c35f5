"""A folder of documents: one file each, in one folder per class."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.errors import DataError, name_list
from discrim.text.block import CHARACTERS, DocumentBlock, Documents


class FolderDocuments(Documents):
    """The names of one class are held at a time, so that millions of files are no matter."""

    def __init__(self, folder: Path, batch_rows: int) -> None:
        self._batch_rows = batch_rows
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
        size = 0
        for path, label in self._files():
            raw = _read(path)
            if texts and (len(texts) == self._batch_rows or size + len(raw) > CHARACTERS):
                yield self._block(texts, labels)
                texts, labels, size = [], [], 0
            texts.append(_decode(raw, path))
            labels.append(label)
            size += len(raw)
        yield self._block(texts, labels)

    def classes(self) -> NDArray[Any]:
        return np.unique(np.array([folder.name for folder in self._folders]))

    def _files(self) -> Iterator[tuple[Path, str]]:
        for folder in self._folders:
            for path in _entries(folder):
                if not path.is_dir():
                    yield path, folder.name

    def _block(self, texts: list[str], labels: list[str]) -> DocumentBlock:
        return DocumentBlock(texts, np.array(labels) if self.labelled else None)

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
