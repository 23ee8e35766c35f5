"""Plain values of any type: parameters, labels, fitted attributes, the cells of a summary."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discrim.errors import ModelFileError
from discrim.store.container import is_whole
from discrim.store.fields import INFINITE, Field, Incoming, Outgoing, damaged, is_storable

# Letters that the entries of an array of texts may have beyond the longest: NumPy gives all entries as many.
SPARE = 64
# Letters that such an array may take in memory, beyond four times what its texts have.
MOST_LETTERS = 1 << 24
TIMES: dict[str, Any] = {"datetime": dt.datetime, "date": dt.date}
SPARSE: dict[str, Any] = {"csr_matrix": sparse.csr_matrix, "csr_array": sparse.csr_array}


@dataclass(frozen=True)
class Value(Field[Any]):
    """Any value that JSON has, as it is; every other one as an object with one tag that says its type."""

    def write(self, value: Any, out: Outgoing, at: str) -> Any:
        if value is None or type(value) in (bool, int, str):
            return value
        if value.__class__ is float:
            return value if np.isfinite(value) else {"float": str(value)}
        if value.__class__ is list:
            return [self.write(each, out, f"{at}.{i}") for i, each in enumerate(value)]
        if value.__class__ is tuple:
            return {"tuple": [self.write(each, out, f"{at}.{i}") for i, each in enumerate(value)]}
        if value.__class__ is dict:
            pairs = enumerate(value.items())
            return {"map": [[self.write(each, out, f"{at}.{i}") for each in pair] for i, pair in pairs]}
        if isinstance(value, np.ndarray):
            return _write_array(value, out, at)
        if isinstance(value, np.generic):
            return {"scalar": _write_array(np.asarray(value)[None], out, at)}
        return _write_special(value, out, at)

    def read(self, node: Any, file: Incoming, at: str) -> Any:
        if not isinstance(node, (list, dict)):
            return node
        inner = file.inside(file.letters)
        if isinstance(node, list):
            return [self.read(each, inner, at) for each in node]
        if "array" in node:
            return file.take(node, at)
        if len(node) != 1:
            raise damaged(at, "has no type")
        tag, content = next(iter(node.items()))
        if tag == "object":
            from discrim.store.kinds import read_object

            return read_object(content, file.inside({}), at)
        if tag == "frozen":
            from sklearn.frozen import FrozenEstimator

            return FrozenEstimator(self.read(content, inner, at))
        if tag in SPARSE:
            return SPARSE[tag](_read_sparse(content, file, at))
        if tag in TIMES and isinstance(content, str):
            return _read_time(tag, content, at)
        if tag in _READERS:
            return _READERS[tag](self, content, inner, at)
        raise damaged(at, f"has the unknown type '{tag}'")


def _write_special(value: Any, out: Outgoing, at: str) -> Any:
    """Times, sparse matrices, estimators and other objects of some kind."""
    for name, kind in TIMES.items():
        if value.__class__ is kind:
            return {name: value.isoformat()}
    for name, kind in SPARSE.items():
        if value.__class__ is kind:
            return {name: _write_sparse(value, out, at)}
    if value.__class__.__module__.startswith("sklearn.") and value.__class__.__name__ == "FrozenEstimator":
        return {"frozen": Value().write(value.estimator, out, at)}
    from discrim.store.kinds import write_object

    return {"object": write_object(value, out, at)}


@dataclass(frozen=True)
class Labels(Field[NDArray[Any]]):
    """One-dimensional labels of one type, at least one: text, numbers, truth values, times or a mixture."""

    count: str = ""

    def write(self, value: Any, out: Outgoing, at: str) -> Any:
        return Value().write(np.asarray(value), out, at)

    def read(self, node: Any, file: Incoming, at: str) -> NDArray[Any]:
        labels = Value().read(node, file, at)
        if not isinstance(labels, np.ndarray) or labels.ndim != 1 or not len(labels):
            raise damaged(at, "is no list of labels")
        if self.count:
            file.bind(self.count, len(labels), at)
        listed = labels.tolist()
        if len(set(listed)) != len(listed) or any(label != label for label in listed):  # noqa: PLR0124 - NaN
            raise damaged(at, "has a label twice, or NaN")
        return labels


@dataclass(frozen=True)
class Generator(Field[np.random.Generator]):
    """A random generator of NumPy's default kind, where it is."""

    def write(self, value: Any, out: Outgoing, at: str) -> Any:  # noqa: ARG002 - as of every field
        state = value.bit_generator.state
        return [state["state"]["state"], state["state"]["inc"], state["has_uint32"], state["uinteger"]]

    def read(self, node: Any, file: Incoming, at: str) -> np.random.Generator:  # noqa: ARG002 - as of every field
        fits = isinstance(node, list) and len(node) == 4 and all(is_whole(each) and each >= 0 for each in node)
        if not fits or max(node) >= 1 << 128 or node[2] > 1 or node[3] >= 1 << 32:
            raise damaged(at, "is no random generator")
        made = np.random.default_rng(0)
        counters = {"state": node[0], "inc": node[1]}
        made.bit_generator.state = {
            "bit_generator": "PCG64", "state": counters, "has_uint32": node[2], "uinteger": node[3],
        }  # fmt: skip
        return made


@dataclass(frozen=True)
class Numbered(Field[dict[Any, int]]):
    """The numbers 0, 1, ... of some things, ``count`` of them; a file has the things in order."""

    count: str = "*"

    def write(self, value: Any, out: Outgoing, at: str) -> Any:
        return [Value().write(each, out, f"{at}.{i}") for i, each in enumerate(value)]

    def read(self, node: Any, file: Incoming, at: str) -> dict[Any, int]:
        things = _read_map(
            Value(), [[each, i] for i, each in enumerate(node)] if isinstance(node, list) else node, file, at
        )
        file.bind(self.count, len(things), at)
        return things


def _write_array(value: NDArray[Any], out: Outgoing, at: str) -> Any:
    kind = value.dtype.kind
    if kind in "biuf" and is_storable(value):
        return out.put(value, at)
    if kind in "mM":
        return {"times": [out.put(value.view(np.int64), at), value.dtype.str.lstrip("<>=")]}
    if kind == "U":
        texts = value.ravel().tolist()
        return {"texts": [texts, list(value.shape), min(value.dtype.itemsize // 4, _longest(texts) + SPARE)]}
    if kind == "O":
        listed = [Value().write(each, out, f"{at}.{i}") for i, each in enumerate(value.ravel().tolist())]
        return {"objects": [listed, list(value.shape)]}
    raise ModelFileError(f"'{at}' is an array of the type {value.dtype}, which model files do not hold.")


def _longest(texts: list[str]) -> int:
    return max(map(len, texts), default=0)


def _read_map(field: Value, node: Any, file: Incoming, at: str) -> dict[Any, Any]:
    if not isinstance(node, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in node):
        raise damaged(at, "is no list of pairs")
    try:
        found = {field.read(key, file, at): field.read(value, file, at) for key, value in node}
    except TypeError as error:
        raise damaged(at, "has a key that can be none") from error
    if len(found) < len(node):
        raise damaged(at, "has a key twice")
    return found


def _read_tuple(field: Value, node: Any, file: Incoming, at: str) -> tuple[Any, ...]:
    if not isinstance(node, list):
        raise damaged(at, "is no list")
    return tuple(field.read(each, file, at) for each in node)


def _read_float(field: Value, node: Any, file: Incoming, at: str) -> float:  # noqa: ARG001 - as all readers
    if not isinstance(node, str) or node not in INFINITE:
        raise damaged(at, "is no number")
    return INFINITE[node]


def _read_scalar(field: Value, node: Any, file: Incoming, at: str) -> np.generic:
    array = field.read(node, file, at)
    if not isinstance(array, np.ndarray) or array.shape != (1,) or array.dtype.kind == "O":
        raise damaged(at, "is no single value")
    return array[0]  # type: ignore[no-any-return]


def _read_times(field: Value, node: Any, file: Incoming, at: str) -> NDArray[Any]:  # noqa: ARG001 - as all readers
    numbers = file.take(node[0], at) if isinstance(node, list) and len(node) == 2 else None
    if numbers is None or numbers.dtype != np.int64 or not isinstance(node[1], str) or len(node[1]) > 12:
        raise damaged(at, "is no array of times")
    try:
        dtype = np.dtype(node[1])
    except (TypeError, ValueError) as error:
        raise damaged(at, "is no array of times") from error
    if dtype.kind not in "mM" or numbers.ndim < 1:
        raise damaged(at, "is no array of times")
    return numbers.view(dtype)


def _read_texts(field: Value, node: Any, file: Incoming, at: str) -> NDArray[Any]:  # noqa: ARG001 - as all readers
    texts, shape, letters = node if isinstance(node, list) and len(node) == 3 else (None, None, None)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts) or not is_whole(letters):
        raise damaged(at, "is no array of texts")
    longest = _longest(texts)
    if not longest <= letters <= longest + SPARE or letters * len(texts) > MOST_LETTERS + 4 * sum(map(len, texts)):
        raise damaged(at, "has texts of a length that cannot be")
    return np.array(texts, dtype=f"<U{letters}").reshape(_shape(shape, len(texts), at))


def _read_objects(field: Value, node: Any, file: Incoming, at: str) -> NDArray[Any]:
    if not isinstance(node, list) or len(node) != 2 or not isinstance(node[0], list):
        raise damaged(at, "is no array of objects")
    array = np.empty(len(node[0]), dtype=object)
    array[:] = [field.read(each, file, at) for each in node[0]]
    return array.reshape(_shape(node[1], len(array), at))


def _shape(node: Any, size: int, at: str) -> list[int]:
    fits = isinstance(node, list) and len(node) <= 8 and all(is_whole(n) and 0 <= n <= max(size, 1) for n in node)
    if not fits or prod(node) != size:
        raise damaged(at, "has a shape that does not suit it")
    return node  # type: ignore[no-any-return]


def _read_time(tag: str, node: str, at: str) -> Any:
    try:
        return TIMES[tag].fromisoformat(node)
    except ValueError as error:
        raise damaged(at, "is no date or time") from error


def _write_sparse(value: Any, out: Outgoing, at: str) -> Any:
    value.sum_duplicates()
    return {name: out.put(getattr(value, name), f"{at}.{name}") for name in ("data", "indices", "indptr")} | {
        "shape": list(value.shape)
    }


def _read_sparse(node: Any, file: Incoming, at: str) -> Any:
    if not isinstance(node, dict) or node.keys() != {"data", "indices", "indptr", "shape"}:
        raise damaged(at, "is no sparse matrix")
    data, indices, indptr = (file.take(node[name], at) for name in ("data", "indices", "indptr"))
    shape, whole = node["shape"], all(each.dtype.kind == "i" and each.ndim == 1 for each in (indices, indptr))
    fits = isinstance(shape, list) and len(shape) == 2 and all(is_whole(n) and 0 <= n < 1 << 31 for n in shape)
    if not (fits and whole and data.ndim == 1 and len(data) == len(indices) and len(indptr) == shape[0] + 1):
        raise damaged(at, "is no sparse matrix")
    ends = indptr[0] == 0 and indptr[-1] == len(data) and (np.diff(indptr) >= 0).all()
    if not ends or (indices < 0).any() or (indices >= shape[1]).any():
        raise damaged(at, "has entries that are not inside of it")
    return sparse.csr_matrix((data, indices, indptr), shape=shape)


_READERS = {
    "map": _read_map,
    "tuple": _read_tuple,
    "float": _read_float,
    "scalar": _read_scalar,
    "times": _read_times,
    "texts": _read_texts,
    "objects": _read_objects,
}
