"""States of reductions as plain text and arrays, and back to the bit: no code, and only our own values."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discrim.errors import ModelFileError
from discrim.store.container import NAMES

Arrays = dict[str, NDArray[Any]]


def written(value: Any, arrays: Arrays) -> Any:
    """What JSON has in place of the value; its arrays are copied into ``arrays``."""
    if value is None or type(value) in (bool, int, str):
        return value
    if isinstance(value, Enum):
        return {"enum": [*_name_of(type(value)), value.name]}
    if value.__class__ is float:
        return {"float": value.hex()}
    if isinstance(value, list | tuple):
        kind = "list" if isinstance(value, list) else "tuple"
        return {kind: [written(each, arrays) for each in value]}
    if isinstance(value, dict):
        return {"map": [[written(key, arrays), written(each, arrays)] for key, each in value.items()]}
    if isinstance(value, np.ndarray):
        return _written_array(value, arrays)
    if isinstance(value, np.generic):
        return {"scalar": _written_array(np.asarray(value)[None], arrays)}
    if isinstance(value, sparse.csr_array):
        parts = [_written_array(part, arrays) for part in (value.data, value.indices, value.indptr)]
        return {"sparse": [parts, list(value.shape)]}
    if is_dataclass(value) and not isinstance(value, type):
        names = [each.name for each in fields(value)]
        content = {name: written(getattr(value, name), arrays) for name in names}
        return {"object": [*_name_of(type(value)), content]}
    raise ModelFileError(f"A checkpoint cannot hold a value of the type {type(value).__name__}.")


def read(node: Any, arrays: Mapping[str, NDArray[Any]]) -> Any:
    """The value that was ``written`` so."""
    if not isinstance(node, dict):
        return node
    ((tag, content),) = node.items()
    if tag == "float":
        return float.fromhex(content)
    if tag in ("list", "tuple"):
        found = [read(each, arrays) for each in content]
        return found if tag == "list" else tuple(found)
    if tag == "map":
        return {read(key, arrays): read(each, arrays) for key, each in content}
    if tag == "scalar":
        return read(content, arrays)[0]
    if tag == "sparse":
        parts, shape = content
        return sparse.csr_array(tuple(read(part, arrays) for part in parts), shape=tuple(shape))
    if tag == "enum":
        module, name, member = content
        return _type_of(module, name)[member]
    if tag == "object":
        module, name, values = content
        return _restored(_type_of(module, name), {key: read(each, arrays) for key, each in values.items()})
    return _read_array(tag, content, arrays)


def _written_array(array: NDArray[Any], arrays: Arrays) -> Any:
    """The order of the axes in memory is kept, since products depend on it in their last digits."""
    if array.dtype.kind == "O":
        return {"objects": [[written(each, arrays) for each in array.ravel().tolist()], list(array.shape)]}
    turned = array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous
    name, plain = str(len(arrays)), array.T if turned else array
    if array.dtype in NAMES:
        arrays[name] = np.array(plain, order="C")
        return {"array": [name, turned, None]}
    # Texts and times, as their bytes.
    arrays[name] = np.frombuffer(np.ascontiguousarray(plain).tobytes(), np.uint8).copy()
    return {"array": [name, turned, [array.dtype.str, list(plain.shape)]]}


def _read_array(tag: str, content: Any, arrays: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    if tag == "objects":
        values, shape = content
        found = np.empty(len(values), dtype=object)
        found[:] = [read(each, arrays) for each in values]
        return found.reshape(shape)
    name, turned, plain = content
    array = arrays[name] if plain is None else np.frombuffer(arrays[name].tobytes(), plain[0]).reshape(plain[1])
    array = array.copy()
    return array.T if turned else array


def _name_of(kind: type) -> tuple[str, str]:
    if kind.__module__.partition(".")[0] != "discrim":
        raise ModelFileError(f"A checkpoint cannot hold a value of the type {kind.__module__}.{kind.__name__}.")
    return kind.__module__, kind.__name__


def _type_of(module: str, name: str) -> Any:
    """A type of this library that is in use already: nothing is imported for a file."""
    found: Any = sys.modules.get(module) if module.partition(".")[0] == "discrim" else None
    found = getattr(found, name, None)
    if not isinstance(found, type) or not (is_dataclass(found) or issubclass(found, Enum)):
        raise ModelFileError(f"It holds a value of the kind '{module}.{name}', which is not known here.")
    return found


def _restored(kind: Any, values: Mapping[str, Any]) -> Any:
    """With the fields that it had; no method is called."""
    if {each.name for each in fields(kind)} != values.keys():
        raise ModelFileError(f"It is damaged: {kind.__name__} has other fields.")
    value = object.__new__(kind)
    for name, each in values.items():
        object.__setattr__(value, name, each)
    return value
