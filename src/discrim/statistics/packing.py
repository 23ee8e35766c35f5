"""Statistics as bytes: a safetensors buffer, so that reading one never runs code."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.errors import DataError
from discrim.statistics.depth import Depth


@dataclass(frozen=True)
class Unpacked:
    """What was stored: arrays by name, the class labels, and what only some statistics have."""

    arrays: dict[str, NDArray[Any]]
    classes: NDArray[Any]
    depth: str
    levels: tuple[NDArray[Any], ...] | None


def pack(
    kind: str,
    depth: Depth | None,
    arrays: dict[str, NDArray[Any]],
    classes: NDArray[Any],
    levels: tuple[NDArray[Any], ...] | None = None,
) -> bytes:
    """The arrays and the class labels as one buffer; equal input gives equal bytes."""
    from safetensors.numpy import save

    # One entry, as several would be written in an order that changes from call to call.
    head: dict[str, Any] = {"kind": kind, "depth": depth, **_listed(classes)}
    if levels is not None:
        head["levels"] = [_listed(values) for values in levels]
    metadata = {"head": json.dumps(head)}
    return bytes(save({name: np.ascontiguousarray(a) for name, a in sorted(arrays.items())}, metadata=metadata))


def unpack(buffer: bytes, kind: str) -> Unpacked:
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
    levels = head.get("levels")
    return Unpacked(
        arrays=arrays,
        classes=_array(head),
        depth=head["depth"] or "",
        levels=None if levels is None else tuple(_array(values) for values in levels),
    )


def _listed(labels: NDArray[Any]) -> dict[str, Any]:
    values = labels.tolist()
    if not all(isinstance(label, (str, bool, int, float)) for label in values):
        raise DataError("Only labels that are strings, numbers or booleans can be stored.")
    return {"values": values, "dtype": labels.dtype.str}


def _array(listed: dict[str, Any]) -> NDArray[Any]:
    return np.array(listed["values"], dtype=np.dtype(listed["dtype"]))
