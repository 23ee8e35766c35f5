"""Checkpoints: what a fit has reduced so far, in a file, so that one that was killed goes on where it was."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from time import monotonic
from typing import Any, NoReturn, TypeVar

import numpy as np

from discrim.block import Reads
from discrim.engines.states import Arrays, read, written
from discrim.engines.threads import Kept, RowPasses, reduce
from discrim.errors import CheckpointError, DiscrimError, ModelFileError, ParameterError, name_list
from discrim.families.recipe import Reduction
from discrim.sources import Rows, Scan
from discrim.store.container import pack, parsed, unpack

State = TypeVar("State")
T = TypeVar("T")

FORMAT = "discrim checkpoint 1"
# Seconds between two writings, at least; and times as long as a writing takes.
PAUSE, PATIENCE = 5.0, 20.0


class KeptPasses(RowPasses):
    """Passes for one fit: their states are written to a checkpoint, and are taken from there where it has them."""

    def __init__(
        self, rows: Rows, reads: Reads, checkpoint: str | os.PathLike[str], model: Any, start: Any = None
    ) -> None:
        """``start`` is what the fit begins from besides the parameters of the model."""
        super().__init__(rows, reads)
        if not isinstance(checkpoint, str | os.PathLike) or not os.fspath(checkpoint):
            raise ParameterError.bad_value("checkpoint", checkpoint, "the name of a file, or None")
        about = {**_about(model, start), **_recognised(rows)}
        self._checkpoint: Checkpoint | None = Checkpoint(Path(checkpoint).expanduser(), about)

    @contextmanager
    def fitting(self) -> Iterator[None]:
        """The file is kept until the fit is done, or fails by an error of the rows that it would meet again."""
        kept = self._checkpoint
        assert kept is not None
        try:
            yield
        except CheckpointError:
            raise
        except DiscrimError:
            self._ended()
            raise
        else:
            self._ended()
        finally:
            kept.release()

    def not_needed(self) -> None:
        """The rows are held in memory, and are read again by another attempt."""
        if self._checkpoint is not None:
            self._checkpoint.release()
            self._checkpoint = None

    def reduce(self, reduction: Reduction[State], *, title: str = "reading") -> State:
        if self._checkpoint is None:
            return super().reduce(reduction, title=title)
        return self._made(lambda kept: reduce(self.rows, reduction, title=title, shape=self.shape, kept=kept))

    def settled(self, make: Callable[[], T]) -> T:
        kept = self._checkpoint
        return make() if kept is None else kept.settled(make)

    def _made(self, make: Callable[[Kept | None], State]) -> State:
        kept = self._checkpoint
        if kept is None:
            return make(None)
        if not kept.has_next:
            kept.add(make(kept), self.rows.n_rows)
        state, n_rows = kept.next()
        if isinstance(self.rows, Scan) and self.rows.n_rows is None:
            self.rows.n_rows = n_rows
        return state  # type: ignore[no-any-return]

    def _ended(self) -> None:
        """The fit is done: further passes are for questions to the model, and the file is removed."""
        if self._checkpoint is not None:
            self._checkpoint.remove()
            self._checkpoint = None


class Checkpoint:
    """The states of the passes so far, and that of the one that is being made, up to some row.

    The file is in the format of model files, with a hash. It is written under another name first, so that it is whole
    at any time. Writing happens where the states of some blocks have just been merged: a fit that goes on from
    there merges the same states in the same order as one that was never stopped.
    """

    def __init__(self, path: Path, about: Mapping[str, Any]) -> None:
        self.path, self.about = path, json.loads(json.dumps(about))
        self._passes: list[dict[str, Any]] = []
        self._part: dict[str, Any] | None = None
        self._arrays: list[Arrays] = []
        self._taken = 0
        self._next_at = monotonic() + PAUSE
        if not path.parent.is_dir():
            raise CheckpointError(f"Cannot write the checkpoint '{path}': there is no folder '{path.parent}'.")
        if path.exists() and not path.is_file():
            raise CheckpointError(f"Cannot write the checkpoint '{path}': there is something else that is no file.")
        self._lock = Lock(path)
        if path.exists():
            try:
                self._load()
            except BaseException:
                self.release()
                raise

    @property
    def has_next(self) -> bool:
        """Is the state of the next pass known?"""
        return self._taken < len(self._passes)

    def next(self) -> tuple[Any, int | None]:
        """The state of the next pass, and how many rows there are."""
        found = self._passes[self._taken]
        state = read(found["state"], self._arrays[self._taken])
        self._taken += 1
        return state, found["rows"]

    def add(self, state: Any, rows: int | None, *, settled: bool = False) -> None:
        """A pass is done."""
        self._part, arrays = None, Arrays()
        self._arrays[len(self._passes) :] = [arrays]
        self._passes.append({"state": written(state, arrays), "rows": rows, "settled": settled})
        if monotonic() >= self._next_at:
            self._write({}, None)

    def settled(self, make: Callable[[], T]) -> T:
        """What ``make`` gives by passes; when it is known it takes their place, so that what is kept stays small."""
        start = self._taken
        if self.has_next and self._passes[start].get("settled"):
            return self.next()[0]  # type: ignore[no-any-return]
        value = make()
        del self._passes[start:], self._arrays[start:]
        self._taken = start
        self.add(value, None, settled=True)
        self._taken += 1
        return value

    def begun(self) -> tuple[list[Any], int]:
        """The merged state of the pass that was broken off, and the rows that are in it."""
        if self._part is None:
            return [], 0
        return [read(self._part["state"], self._arrays[len(self._passes)])], self._part["rows"]

    def merged(self, state: Any, rows: int) -> None:
        """So many rows of this pass are in the state now; every few seconds it is written."""
        if monotonic() >= self._next_at:
            arrays = Arrays()
            self._write(arrays, {"state": written(state, arrays), "rows": rows})

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)
        self._beside.unlink(missing_ok=True)

    def release(self) -> None:
        """Let another fit have the file."""
        self._lock.release()

    @property
    def _beside(self) -> Path:
        return self.path.with_name(f".{self.path.name}.part")

    def _write(self, arrays: Arrays, part: dict[str, Any] | None) -> None:
        start = monotonic()
        known = [*self._arrays[: len(self._passes)], arrays]
        text = json.dumps({"format": FORMAT, "about": self.about, "passes": self._passes, "part": part})
        named = {f"{i}.{name}": array for i, each in enumerate(known) for name, array in each.items()}
        try:
            with self._beside.open("wb") as file:
                file.write(pack(text, named))
                file.flush()
                os.fsync(file.fileno())
            self._beside.replace(self.path)
        except OSError as error:
            raise CheckpointError(
                f"Cannot write the checkpoint '{self.path}': {error.strerror or error}. What it had is still there."
            ) from error
        now = monotonic()
        self._next_at = now + max(PAUSE, PATIENCE * (now - start))

    def _load(self) -> None:
        try:
            text, arrays = unpack(bytearray(self.path.read_bytes()))
            head = parsed(text)
        except (OSError, ModelFileError) as error:
            self._refuse(f"it cannot be read ({error})")
        if not isinstance(head, dict) or head.get("format") != FORMAT:
            self._refuse("it is no checkpoint")
        why = difference(head["about"], self.about)
        if why:
            self._refuse(why)
        self._passes, self._part = head["passes"], head["part"]
        each: list[Arrays] = [{} for _ in range(len(self._passes) + 1)]
        for name, array in arrays.items():
            place, _, inner = name.partition(".")
            each[int(place)][inner] = array
        self._arrays = each if self._part is not None else each[:-1]

    def _refuse(self, why: str) -> NoReturn:
        raise CheckpointError(
            f"Cannot go on from the checkpoint '{self.path}': {why}. Remove that file to begin anew, or name another."
        )


class Lock:
    """A file beside the checkpoint that one process has at a time, until it ends in any way.

    It is made before the rows are read, so that a folder in which nothing can be written is known at once.
    """

    def __init__(self, checkpoint: Path) -> None:
        self._path = checkpoint.with_name(f".{checkpoint.name}.lock")
        try:
            self._file: Any = self._path.open("ab")
        except OSError as error:
            raise CheckpointError(
                f"Cannot write the checkpoint '{checkpoint}': nothing can be written in its folder "
                f"({error.strerror or error})."
            ) from error
        if not _locked(self._file):
            self._file.close()
            raise CheckpointError(
                f"Another fit is writing the checkpoint '{checkpoint}' now. Wait for its end, or name another file."
            )

    def release(self) -> None:
        if not self._file.closed:
            self._path.unlink(missing_ok=True)
            self._file.close()


def _locked(file: Any) -> bool:
    """Is the file ours now? Yes also where the system or the disk knows no locks."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        pass
    return True


def difference(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """What another fit or other rows differ in, in words; empty where they are the same."""
    for name, what in (("discrim", "discrim"), ("numpy", "NumPy")):
        if before[name] != now[name]:
            return f"it was written with {what} {before[name]}, and this is {now[name]}"
    if before["model"] != now["model"]:
        return f"it is of a fit of {before['model']}, and this is one of {now['model']}"
    for name, value in now["parameters"].items():
        if before["parameters"].get(name) != value:
            return f"it is of a fit with {name}={before['parameters'].get(name)}, and this one has {name}={value}"
    for name in ("target", "weight", "offset"):
        if before[name] != now[name]:
            return f"it is of a fit with {name}={before[name]!r}, and this one has {name}={now[name]!r}"
    changed = _changed(before["files"], now["files"])
    if changed or before == now:
        return changed
    if before["columns"] != now["columns"]:
        names = [name for name, _ in before["columns"]]
        return f"it is of the columns {name_list(names)}, and this fit has others, or these in another order"
    if before["start"] != now["start"]:
        return "it is of a fit that began elsewhere (warm_start)"
    return "the rows are read in another way, by types or batch_rows"


def _changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Which file is another one, in words."""
    for name, state in now.items():
        if name not in before:
            return f"it is of {name_list(list(before))}, and this fit has '{name}'"
        if before[name] != state:
            return f"'{name}' has changed since: it was {_state(before[name])}, and is {_state(state)}"
    return "" if len(before) == len(now) else f"it is of {name_list(list(before))}, and some are not there now"


def _state(state: list[int]) -> str:
    size, time = state
    return f"{size:,} bytes of {datetime.fromtimestamp(time / 1e9).astimezone():%Y-%m-%d %H:%M:%S}"


def _recognised(rows: Rows) -> dict[str, Any]:
    if not isinstance(rows, Scan):
        raise ParameterError("A checkpoint is for the rows of a scan of files; these rows are in memory.")
    found = rows.recognised_by()
    if found is None:
        raise CheckpointError(
            f"A checkpoint is for files, whose sizes and times show whether they have changed; {rows} has none. "
            "Leave checkpoint out, or write the rows to a Parquet file."
        )
    return found


def _about(model: Any, start: Any) -> dict[str, Any]:
    """What shows whether another fit is of the same model, as plain values."""
    discrim = sys.modules["discrim"]
    with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
        given = sorted(model.get_params(deep=True).items())
        parameters = {name: repr(np.asarray(x) if hasattr(x, "__array__") else x) for name, x in given}
        begun = repr(start)
    for name, text in parameters.items():
        if " at 0x" in text:
            raise DiscrimError(f"A checkpoint cannot recognise {name}={text} in another process. Give a plain value.")
    versions = {"discrim": discrim.__version__, "numpy": np.__version__}
    return {**versions, "model": type(model).__name__, "parameters": parameters, "start": begun}
