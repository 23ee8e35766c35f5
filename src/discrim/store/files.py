"""``save`` and ``load``: a fitted model and its file."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from os import PathLike
from pathlib import Path
from secrets import token_hex
from typing import Any

from sklearn.base import BaseEstimator

from discrim.errors import DiscrimError, ModelFileError, NotStoredWarning, ParameterError, RowsInFileWarning, warn
from discrim.store.container import is_whole, pack, parsed, unpack
from discrim.store.estimators import is_fitted
from discrim.store.fields import Incoming, Outgoing, Texts
from discrim.store.kinds import kind_of, read_object, why_not, write_object

FORMAT, VERSION = "discrim model", 1


def save(
    model: Any, path: str | PathLike[str], *, keep_statistic: bool = False, statistic_only: bool = False
) -> None:  # fmt: skip
    """Write a fitted model to a file.

    The file has what predictions and ``summary()`` need, as numbers and texts: no code, and no training rows. Equal
    models give equal bytes. It is written under another name first and then renamed, so that a file of this name is
    whole at any time.

    Cost: that of the summary, and a write of about as many bytes as the model has.

    Parameters
    ----------
    model : a fitted estimator of discrim
    path : str or path; the usual ending is .discrim
    keep_statistic : bool
        Keep what learning goes on from too: with it ``partial_fit``, ``forget`` and ``merge`` work after ``load``.
        It says more of the rows than the rule does, such as the covariances of the columns in each class.
    statistic_only : bool
        Write that alone, for ``merge`` at another place: no rule, no summary. ``load`` solves it again.

    Raises
    ------
    ModelFileError : the model is not fitted, has a part that is not of discrim, or the file cannot be written

    Examples
    --------
    >>> import tempfile, discrim
    >>> X, y = discrim.datasets.load_iris().xy
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     discrim.save(discrim.LinearDiscriminantAnalysis().fit(X, y), f"{folder}/iris.discrim")
    ...     model = discrim.load(f"{folder}/iris.discrim")
    >>> model.predict(X[:2]).tolist()
    ['setosa', 'setosa']
    """
    target = _path(path)
    content = to_bytes(model, keep_statistic=keep_statistic, statistic_only=statistic_only)
    if not target.parent.is_dir():
        raise ModelFileError(f"Cannot save to '{target}': there is no folder '{target.parent}'. Make it first.")
    beside = target.with_name(f".{target.name}.{token_hex(6)}")
    try:
        with beside.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    except OSError as error:
        raise ModelFileError(f"Cannot save to '{target}': {error.strerror or error}.") from error
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def load(path: str | PathLike[str]) -> Any:
    """The model of a file that ``save`` wrote.

    A file is data: reading it runs no code that it brings, and one that was altered or cut off is refused. Predictions
    and ``summary()`` are those of the model that was saved, to the bit.

    Cost: one read of the file; about 1 ms for a model of a few columns.

    Raises
    ------
    ModelFileError : there is no such file, or it is not a model file, is damaged, or of a newer version
    """
    source = _path(path)
    try:
        with source.open("rb") as file:
            content = bytearray(os.fstat(file.fileno()).st_size)
            del content[file.readinto(content) :]
    except OSError as error:
        raise ModelFileError(f"Cannot load '{source}': {error.strerror or error}.") from error
    try:
        return from_bytes(content)
    except ModelFileError as error:
        raise ModelFileError(f"Cannot load '{source}'. {error}") from error


def to_bytes(model: Any, *, keep_statistic: bool = False, statistic_only: bool = False) -> bytes:
    """The content of the file of a model."""
    if kind_of(model) is None or not isinstance(model, BaseEstimator):
        raise ModelFileError(f"Cannot save {type(model).__name__}. {why_not(model)}")
    if not is_fitted(model):
        raise ModelFileError(f"Cannot save this {type(model).__name__}: it is not fitted yet. Call fit first.")
    out = Outgoing(keep_statistic or statistic_only, statistic_only)
    record = write_object(model, out, "model")
    head = {"format": FORMAT, "version": VERSION, "rows": out.rows, "model": record}
    text = json.dumps(head, allow_nan=False, separators=(",", ":"))
    content = pack(text, out.arrays)
    try:
        from_bytes(bytearray(content))
    except ModelFileError as error:
        raise ModelFileError(
            f"Cannot save this {type(model).__name__}, as its file could not be read. {error}"
        ) from error
    if out.left_out:
        warn(
            f"The model file leaves out {', '.join(out.left_out)}: it holds numbers, texts and models. Predictions do "
            "not need this; set it again before another fit.",
            NotStoredWarning,
        )
    if out.rows:
        warn(f"The model file has values of rows of the data. {' '.join(out.rows)}", RowsInFileWarning)
    return content


def from_bytes(content: bytearray) -> Any:
    """The model of such a content."""
    text, arrays = unpack(content)
    head = parsed(text)
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise ModelFileError("It holds no model of discrim.")
    version = head.get("version")
    if version != VERSION:
        newer = is_whole(version) and version > VERSION
        raise ModelFileError(
            f"It has version {version} of the format, and this discrim reads version {VERSION}. Update discrim."
            if newer
            else "It has no version that can be read."
        )
    if head.keys() != {"format", "version", "rows", "model"}:
        raise ModelFileError("It is damaged: its text has other parts than a model.")
    Texts().read(head["rows"], Incoming({}), "rows")
    file = Incoming(arrays)
    try:
        model = read_object(head["model"], file, "model", BaseEstimator)
    except ModelFileError:
        raise
    except (DiscrimError, ValueError, TypeError, LookupError, OverflowError, RecursionError, AttributeError) as error:
        raise ModelFileError(f"It is damaged: its parts do not go together ({error}).") from error
    if file.used != arrays.keys():
        raise ModelFileError(f"It is damaged: no field has the array '{min(arrays.keys() - file.used)}'.")
    if not is_fitted(model):
        raise ModelFileError("It is damaged: its model was not fitted.")
    return model


def _path(path: Any) -> Path:
    if not isinstance(path, (str, PathLike)):
        raise ParameterError.bad_value("path", path, "the name of a file")
    return Path(path)
