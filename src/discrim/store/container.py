"""One file in the safetensors format: a JSON text and arrays, with a hash of both.

The file begins with the length of its head (8 bytes, little endian), then the head in JSON, padded with spaces to a
multiple of 8, then the arrays one after the other. The head names the place, shape and type of every array, and has
our text and the hash under ``__metadata__``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from math import prod
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from discrim.errors import ModelFileError

TYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1",
}  # fmt: skip
NAMES = {np.dtype(text): name for name, text in TYPES.items()}
# The format takes no head beyond this.
LONGEST_HEAD = 100_000_000
# As many axes as an array may have here.
MOST_AXES = 8
LONGEST_AXIS = 1 << 40
TEXT, HASH = "discrim", "sha256"


def pack(text: str, arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The bytes of the file; the same text and arrays give the same bytes."""
    tensors = [Tensor.of(name, arrays[name]) for name in sorted(arrays)]
    head: dict[str, Any] = {"__metadata__": {TEXT: text, HASH: content_hash(text, tensors)}}
    start = 0
    for tensor in tensors:
        place = [start, start + len(tensor.data)]
        head[tensor.name] = {"dtype": tensor.type, "shape": list(tensor.shape), "data_offsets": place}
        start = place[1]
    written = json.dumps(head, separators=(",", ":")).encode()
    written += b" " * (-len(written) % 8)
    if len(written) > LONGEST_HEAD:
        raise ModelFileError(f"The names and levels of the model take {len(written):,} bytes; a file has 100,000,000.")
    return b"".join([len(written).to_bytes(8, "little"), written, *(tensor.data for tensor in tensors)])


@dataclass(frozen=True)
class Tensor:
    """The bytes of one array, and what they are."""

    name: str
    type: str
    shape: tuple[int, ...]
    data: memoryview

    @classmethod
    def of(cls, name: str, array: NDArray[Any]) -> Tensor:
        plain = np.ascontiguousarray(array).reshape(array.shape)
        plain = plain.astype(plain.dtype.newbyteorder("<"), copy=False)
        data = memoryview(plain.tobytes())
        return cls(name, NAMES[plain.dtype], array.shape, data)

    def array(self) -> NDArray[Any]:
        """The array, in the memory of the file's bytes."""
        dtype = np.dtype(TYPES[self.type])
        flat = np.frombuffer(self.data, dtype) if len(self.data) else np.empty(0, dtype)
        return np.require(flat, requirements="A").reshape(self.shape)


def content_hash(text: str, tensors: list[Tensor]) -> str:
    """SHA-256 of the text, and of name, type, shape and bytes of every array in the order of the names."""
    digest = sha256(text.encode())
    for tensor in tensors:
        shape = ",".join(map(str, tensor.shape))
        digest.update(f"\0{tensor.name}\0{tensor.type}\0{shape}\0".encode())
        digest.update(tensor.data)
    return digest.hexdigest()


def unpack(content: bytearray) -> tuple[str, dict[str, NDArray[Any]]]:
    """Text and arrays of a file, checked against the hash; the arrays are views of ``content``."""
    size = int.from_bytes(content[:8], "little")
    if len(content) < 8 or size > min(len(content) - 8, LONGEST_HEAD):
        raise ModelFileError(_foreign(content))
    head = parsed(content[8 : 8 + size])
    if not isinstance(head, dict):
        raise ModelFileError(_foreign(content))
    about = head.pop("__metadata__", None)
    if not isinstance(about, dict) or not isinstance(about.get(TEXT), str):
        raise ModelFileError("It is a safetensors file, but holds no model of discrim.")
    tensors = _tensors(head, memoryview(content)[8 + size :])
    try:
        found = content_hash(about[TEXT], tensors)
    except UnicodeEncodeError:
        found = ""
    if found != about.get(HASH):
        raise ModelFileError("It was altered or damaged since it was written: its content hash does not match.")
    return about[TEXT], {tensor.name: tensor.array() for tensor in tensors}


def parsed(text: bytes | bytearray | str) -> Any:
    """JSON without NaN or infinity, which are no JSON."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ModelFileError("It is not a model file, or it is damaged: its head is not JSON.") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def is_whole(value: Any) -> TypeGuard[int]:
    """Is this a whole number of JSON?"""
    return isinstance(value, int) and not isinstance(value, bool)


def _tensors(head: Mapping[str, Any], data: memoryview) -> list[Tensor]:
    """The arrays in the order of their names; together they fill ``data`` without gaps."""
    tensors, end = [], 0
    for name, entry in sorted(head.items(), key=_start):
        kind, shape, start = entry.get("dtype"), entry.get("shape"), end
        fits = isinstance(kind, str) and kind in TYPES and isinstance(shape, list) and len(shape) <= MOST_AXES
        if not fits or not all(is_whole(n) and 0 <= n <= LONGEST_AXIS for n in shape):
            raise ModelFileError(f"It is damaged: the array '{name}' has no type or shape that can be read.")
        # Python's integers do not overflow, so a shape that is too large is seen before anything is made of it.
        end = start + prod(shape) * np.dtype(TYPES[kind]).itemsize
        if entry.get("data_offsets") != [start, end] or end > len(data):
            raise ModelFileError(f"It is damaged: the array '{name}' is not where its head says, or was cut off.")
        tensors.append(Tensor(name, kind, tuple(shape), data[start:end]))
    if end != len(data):
        raise ModelFileError(f"It is damaged: {len(data) - end:,} bytes after the last array belong to none.")
    return sorted(tensors, key=lambda tensor: tensor.name)


def _start(item: tuple[str, Any]) -> tuple[int, int, str]:
    name, entry = item
    place = entry.get("data_offsets") if isinstance(entry, dict) else None
    if not (isinstance(place, list) and len(place) == 2 and all(is_whole(n) for n in place)):
        raise ModelFileError(f"It is damaged: the array '{name}' has no place.")
    return place[0], place[1], name


def _foreign(content: bytearray) -> str:
    if not content:
        return "It is empty."
    if content[:1] == b"\x80":
        return "It looks like a pickle, which is never read since that would run code in it. Save it by model.save()."
    return "It is not a model file, or it was cut off: model files are written by model.save()."
