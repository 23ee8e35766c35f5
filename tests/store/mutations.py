"""Files that were altered at random, half of them with a hash that fits again."""

from __future__ import annotations

import json
import resource
import signal
import struct
import tracemalloc
import warnings
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path

import numpy as np

from discrim.errors import DiscrimError, ModelFileError
from discrim.store.container import HASH, TEXT, Tensor, content_hash
from discrim.store.files import from_bytes

# What a file that is read may take in memory, besides a multiple of its size.
MOST_BYTES = 64 << 20
NUMBERS = [0, 1, -1, 2, 3, 255, 1 << 31, 1 << 40, 1 << 62, -(1 << 62), 10**30, 0.5, -0.0, 1e308, -1e308, 5e-324]
SIMPLE = [None, True, False, "", "x", "F", "inf", "nan", [], {}, [[]], {"array": "x"}, *NUMBERS]
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -1.0, 1e308, -1e308, 5e-324, 1e-300]


def altered(content, rng):
    """Bytes that were flipped, cut, doubled, or made of a text and arrays that differ."""
    if rng.integers(2):
        return _of_bytes(bytearray(content), rng)
    head_size = int.from_bytes(content[:8], "little")
    head, data = json.loads(content[8 : 8 + head_size]), bytearray(content[8 + head_size :])
    about = head.pop("__metadata__")
    tree = json.loads(about[TEXT])
    for _ in range(rng.integers(1, 3)):
        if rng.integers(3):
            tree = _of_tree(tree, rng)
        elif head:
            _of_arrays(head, data, rng)
    return _packed(json.dumps(tree), head, data)


def _of_bytes(content, rng):
    for _ in range(rng.integers(1, 4)):
        at, how = int(rng.integers(len(content))), rng.integers(5)
        if how == 0:
            content[at] ^= 1 << int(rng.integers(8))
        elif how == 1:
            content[at] = int(rng.integers(256))
        elif how == 2:
            del content[at : at + int(rng.integers(1, 40))]
        elif how == 3:
            content[at:at] = content[at : at + int(rng.integers(1, 40))]
        else:
            content[:8] = struct.pack("<Q", int(rng.integers(1 << 40)))
        if not content:
            break
    return content


def _places(tree, found, path=()):
    found.append(path)
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        _places(value, found, (*path, key))


def _of_tree(tree, rng):
    found = []
    _places(tree, found)
    path = found[int(rng.integers(len(found)))]
    if not path:
        return deepcopy(SIMPLE[int(rng.integers(len(SIMPLE)))])
    parent = tree
    for key in path[:-1]:
        parent = parent[key]
    how, last = rng.integers(6), path[-1]
    if how == 0:
        del parent[last]
    elif how == 1:
        other = found[int(rng.integers(1, len(found)))]
        value = tree
        for key in other:
            value = value[key]
        parent[last] = json.loads(json.dumps(value))
    elif how == 2 and isinstance(parent[last], (int, float)) and not isinstance(parent[last], bool):
        parent[last] = NUMBERS[int(rng.integers(len(NUMBERS)))]
    elif how == 3 and isinstance(parent[last], str):
        text = parent[last]
        at = int(rng.integers(len(text) + 1))
        parent[last] = text[:at] + chr(int(rng.integers(32, 300))) + text[at + 1 :]
    elif how == 4 and isinstance(parent[last], list):
        parent[last] = parent[last] * 2 if rng.integers(2) else parent[last][:-1]
    else:
        parent[last] = deepcopy(SIMPLE[int(rng.integers(len(SIMPLE)))])
    return tree


def _of_arrays(head, data, rng):
    name = sorted(head)[int(rng.integers(len(head)))]
    entry, how = head[name], rng.integers(4)
    start, stop = entry["data_offsets"]
    if how == 0 and stop - start >= 8:
        at = start + 8 * int(rng.integers((stop - start) // 8))
        data[at : at + 8] = struct.pack("<d", SPECIAL[int(rng.integers(len(SPECIAL)))])
    elif how == 1 and stop > start:
        data[int(rng.integers(start, stop))] ^= 1 << int(rng.integers(8))
    elif how == 2:
        entry["shape"] = entry["shape"][::-1] if rng.integers(2) else [*entry["shape"], 1]
    else:
        entry["dtype"] = ["F64", "I64", "F32", "U8", "BOOL"][int(rng.integers(5))]


def _packed(text, head, data):
    """With the right hash where the arrays are in order."""
    try:
        tensors = [
            Tensor(name, entry["dtype"], tuple(entry["shape"]), memoryview(data)[slice(*entry["data_offsets"])])
            for name, entry in sorted(head.items())
        ]
        found = content_hash(text, tensors)
    except (TypeError, ValueError, KeyError, UnicodeEncodeError):
        found = ""
    written = json.dumps({"__metadata__": {TEXT: text, HASH: found}, **head}).encode()
    return bytearray(len(written).to_bytes(8, "little") + written + data)


def outcome(content, ask):
    """ "refused", or "answers" where the model was read and gave numbers or a sentence; raises otherwise."""
    try:
        model = from_bytes(bytearray(content))
        for answer in ask(model):
            values = np.asarray(answer)
            # The score of a class that cannot occur is -inf; one score for two classes is a difference of theirs.
            assert values.dtype.kind != "f" or (np.isfinite(values) | (values == -np.inf) | (values.ndim == 1)).all()
            assert values.dtype.kind != "f" or not np.isnan(values).any()
        str(model.summary() if hasattr(model, "summary") else "")
    except ModelFileError:
        return "refused"
    except DiscrimError:
        pass
    return "answers"


def traced_outcome(content, ask):
    """The outcome, with the memory counted that it took; counting takes three times as long as all else."""
    tracemalloc.start()
    try:
        return outcome(content, ask)
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < MOST_BYTES + 64 * len(content), peak


def mutate(files, numbers, seed, outcome_of=traced_outcome):
    """How often each outcome came; the alteration of each of the ``numbers`` depends on it and the seed alone."""
    found = {"refused": 0, "answers": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in numbers:
            rng = np.random.default_rng([seed, number])
            content, ask = files[int(rng.integers(len(files)))]
            try:
                found[outcome_of(altered(content, rng), ask)] += 1
            except BaseException as error:
                raise AssertionError(f"alteration {number} of seed {seed}: {error!r}") from error
    return found


@contextmanager
def bounded(seconds):
    """The process may take ``MOST_BYTES`` more than it has, and so many seconds, or else there is an error."""
    has = int(next(line for line in Path("/proc/self/status").read_text().splitlines() if "VmData" in line).split()[1])
    before = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, ((has << 10) + MOST_BYTES, before[1]))
    handler = signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, handler)
        resource.setrlimit(resource.RLIMIT_DATA, before)


def _too_long(*_):
    raise TimeoutError
