"""Statistics as bytes: a safetensors buffer, so that reading one never runs code."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.errors import DataError
from discrim.statistics.depth import Depth


def pack(kind: str, depth: Depth, arrays: dict[str, NDArray[Any]], classes: NDArray[Any]) -> bytes:
    """The arrays and the class labels as one buffer; equal input gives equal bytes."""
    from safetensors.numpy import save

    labels = classes.tolist()
    if not all(isinstance(label, (str, bool, int, float)) for label in labels):
        raise DataError("Only labels that are strings, numbers or booleans can be stored.")
    # One entry, as several would be written in an order that changes from call to call.
    head = json.dumps({"kind": kind, "depth": depth, "classes": labels, "dtype": classes.dtype.str})
    return bytes(save({name: np.ascontiguousarray(a) for name, a in sorted(arrays.items())}, metadata={"head": head}))


def unpack(buffer: bytes, kind: str) -> tuple[Depth, dict[str, NDArray[Any]], NDArray[Any]]:
    """What ``pack`` was given; the kind must be the expected one."""
    from safetensors.numpy import load

    try:
        size = int.from_bytes(buffer[:8], "little")
        head = json.loads(json.loads(buffer[8 : 8 + size])["__metadata__"]["head"])
        arrays = load(buffer)
    except Exception as error:
        raise DataError(f"These {len(buffer)} bytes are not a stored statistic: {error}.") from error
    if head.get("kind") != kind:
        raise DataError(f"These bytes hold a statistic of kind '{head.get('kind')}', not '{kind}'.")
    return Depth(head["depth"]), arrays, np.array(head["classes"], dtype=np.dtype(head["dtype"]))
