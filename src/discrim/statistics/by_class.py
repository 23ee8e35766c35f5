"""What all statistics share: parts for each class, which need not be the same in every block, and a form in bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from discrim.errors import DataError, ForgetError, name_list
from discrim.typing import Index, Mask


class ByClass:
    """A frozen dataclass of arrays, of which those named in ``per_class`` have a row for each class."""

    classes: NDArray[Any]
    kind: ClassVar[str]

    @property
    def per_class(self) -> Sequence[str]:
        raise NotImplementedError

    @classmethod
    def merged(cls, parts: Sequence[Self]) -> Self:
        """The statistic of all parts' rows."""
        raise NotImplementedError

    def merge(self, other: Self) -> Self:
        """The statistic of both sets of rows."""
        return self.merged([self, other])

    def including(self, classes: NDArray[Any]) -> Self:
        """The same with further classes of weight zero."""
        joint = union_of_classes([self.classes, classes])
        if len(joint) == len(self.classes):
            return self
        arrays = {name: self.spread(values, joint) for name, values in self._rows_by_class().items()}
        return replace(self, classes=joint, **arrays)  # type: ignore[type-var]

    def spread(self, values: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
        """Rows of the own classes at their places among ``classes``, which hold them all; zeros for the others."""
        if len(values) == len(classes):
            return values
        return spread_out(values, np.searchsorted(classes, self.classes), len(classes))

    def select(self, keep: Mask) -> Self:
        """The classes ``keep``; of what is common to all classes nothing can be taken away."""
        if keep.all():
            return self
        arrays = {name: values[keep] for name, values in self._rows_by_class().items()}
        return replace(self, classes=self.classes[keep], **arrays)  # type: ignore[type-var]

    def relabel(self, sides: Index, labels: Sequence[Any]) -> Self:
        """The statistic of the same rows when class k is called ``labels[sides[k]]``; sides[k] = -1 leaves it out."""
        each = np.arange(len(self.classes))
        alone: list[Any] = [
            replace(self.select(each == k), classes=np.array([labels[sides[k]]]))  # type: ignore[type-var]
            for k in each[sides >= 0]
        ]
        return self.merged([alone[0], *(part.without_common() for part in alone[1:])])

    def without_common(self) -> Self:
        """Without what is common to all classes, of which the first has all."""
        return self

    def aligned(self, other: Self) -> Self:
        """``other``, which is to be subtracted, with all classes of this; raises where it has others."""
        unknown = other.classes[~np.isin(other.classes, self.classes)]
        if len(unknown):
            raise ForgetError(f"Cannot forget rows of class {name_list(unknown)}: the statistic has no such class.")
        return other.including(self.classes)

    def _rows_by_class(self) -> dict[str, NDArray[Any]]:
        return {name: values for name in self.per_class if (values := getattr(self, name)) is not None}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What is stored."""
        return self._rows_by_class()

    def to_bytes(self) -> bytes:
        """A safetensors buffer; equal statistics give equal bytes, and reading them never runs code."""
        from safetensors.numpy import save

        # One entry, as several would be written in an order that changes from call to call.
        head: dict[str, Any] = {"kind": self.kind, "depth": getattr(self, "depth", None), **_listed(self.classes)}
        levels = getattr(self, "levels", None)
        if levels is not None:
            head["levels"] = [_listed(values) for values in levels]
        arrays = {name: np.ascontiguousarray(values) for name, values in sorted(self.arrays().items())}
        return bytes(save(arrays, metadata={"head": json.dumps(head)}))

    @classmethod
    def from_bytes(cls, buffer: bytes) -> Self:
        """The statistic of which these are the bytes."""
        from safetensors.numpy import load

        try:
            size = int.from_bytes(buffer[:8], "little")
            head = json.loads(json.loads(buffer[8 : 8 + size])["__metadata__"]["head"])
            arrays = load(buffer)
        except Exception as error:
            raise DataError(f"These {len(buffer)} bytes are not a stored statistic: {error}.") from error
        if head.get("kind") != cls.kind:
            raise DataError(f"These bytes hold a statistic of kind '{head.get('kind')}', not '{cls.kind}'.")
        fields: dict[str, Any] = {"classes": _array(head)}
        if head["depth"]:
            fields["depth"] = Depth(head["depth"])
        if "levels" in head:
            fields["levels"] = tuple(_array(values) for values in head["levels"])
        return cls.restored(fields, arrays)

    @classmethod
    def restored(cls, fields: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Made of what was stored."""
        return cls(**fields, **arrays)


def _listed(labels: NDArray[Any]) -> dict[str, Any]:
    values = labels.tolist()
    if not all(isinstance(label, (str, bool, int, float)) for label in values):
        raise DataError("Only labels that are strings, numbers or booleans can be stored.")
    return {"values": values, "dtype": labels.dtype.str}


def _array(listed: dict[str, Any]) -> NDArray[Any]:
    return np.array(listed["values"], dtype=np.dtype(listed["dtype"]))


class OneForm:
    """A reduction whose states all have one form: every class is known by itself, and there is nothing to narrow."""

    uses_blas: ClassVar[bool] = False
    light: ClassVar[bool] = False
    # Does ``of`` look at the columns of sparse rows itself?
    looks: ClassVar[bool] = False

    def by_class(self) -> Self | None:
        """The same: a state has each class by itself."""
        return self

    def covers(self, other: Any) -> bool:
        return bool(self == other)

    def merge(self, states: Sequence[Any]) -> Any:
        return states[0].merged(states)

    def narrow(self, state: Any) -> Any:
        return state


class Depth(StrEnum):
    """``diagonal``: variances of each class; ``pooled``: one matrix for all; ``full``: one matrix a class."""

    DIAGONAL = "diagonal"
    POOLED = "pooled"
    FULL = "full"


def union_of_classes(lists: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """The sorted union of sorted lists of labels."""
    first = lists[0]
    if all(len(other) == len(first) and bool(np.all(other == first)) for other in lists[1:]):
        return first
    # Joined as they are, numbers and strings would silently all become strings.
    texts = {labels.dtype.kind == "U" for labels in lists if labels.dtype.kind != "O"}
    try:
        joined = np.unique(np.concatenate(lists)) if len(texts) <= 1 else None
    except TypeError:
        joined = None
    if joined is None:
        kinds = sorted({type(label).__name__ for labels in lists for label in labels.tolist()})
        raise DataError(
            f"The class labels are of types that cannot be put in one order ({', '.join(kinds)}). "
            "Convert the labels of all parts to one type."
        )
    return joined


def spread_out(values: NDArray[Any], at: NDArray[np.intp], size: int) -> NDArray[Any]:
    """Rows of ``values`` moved to the places ``at`` of a longer array of zeros."""
    result = np.zeros((size, *values.shape[1:]), dtype=values.dtype)
    result[at] = values
    return result


def refuse_widths(parts: Sequence[Any]) -> None:
    """Raise where statistics are of different numbers of columns."""
    widths = sorted({part.n_features for part in parts})
    if len(widths) > 1:
        raise DataError(f"Statistics of {widths[0]} and of {widths[-1]} columns cannot be combined.")
