"""Data of the lectures that do not come along: looked for among installed packages, then in a folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim import datasets
from discrim.errors import DiscrimError
from discrim.typing import Floats


@dataclass(frozen=True, eq=False)
class Rows:
    """X and y, column names, and rows for testing where the data have such; ``stand_in`` says what they really are."""

    X: Floats
    y: NDArray[Any]
    names: tuple[str, ...]
    test: tuple[Floats, NDArray[Any]] | None = None
    stand_in: str = ""


@cache
def find_rows(name: str, folder: Path | None = None) -> Rows:
    """Rows by name: from a package, from ``folder/name/``, or synthetic ones in their place."""
    return _installed(name) or (_in_folder(name, folder) if folder is not None else None) or STAND_INS[name]()


def _installed(name: str) -> Rows | None:
    try:
        found = datasets.fetch(name)
    except DiscrimError:
        return None
    part = found.extra.get("part")
    if part is None:
        return Rows(found.data, found.target, found.feature_names)
    train = part == "train"
    test = found.data[~train], found.target[~train]
    return Rows(found.data[train], found.target[train], found.feature_names, test)


def _in_folder(name: str, folder: Path) -> Rows | None:
    """``data.csv``, or ``train.csv`` and ``test.csv``, with the class in the column y; or ``data.npz`` with X and y."""
    place = folder.expanduser() / name
    if (place / "data.npz").is_file():
        with np.load(place / "data.npz", allow_pickle=False) as held:
            x = np.asarray(held["X"], dtype=np.float64)
            return Rows(x, held["y"], tuple(f"gene {j + 1}" for j in range(x.shape[1])))
    if (place / "data.csv").is_file():
        x, y, names = _csv(place / "data.csv")
        return Rows(x, y, names)
    if (place / "train.csv").is_file() and (place / "test.csv").is_file():
        x, y, names = _csv(place / "train.csv")
        return Rows(x, y, names, _csv(place / "test.csv")[:2])
    return None


def _csv(path: Path) -> tuple[Floats, NDArray[Any], tuple[str, ...]]:
    with path.open(encoding="utf-8") as lines:
        head = [name.strip('"') for name in lines.readline().strip().split(",")]
        cells = np.array([line.strip().split(",") for line in lines])
    at = head.index("y")
    y = np.char.strip(cells[:, at], '"')
    whole = np.char.isdigit(y).all()
    names = tuple(name for name in head if name != "y")
    return np.delete(cells, at, axis=1).astype(np.float64), y.astype(np.int64) if whole else y, names


SAY = "The {name} data are not on this computer: {what} stand in for them, so that its numbers are not the lecture's."


# Names of the columns of the spam data, as the lecture prints them.
SPAM_COLUMNS = (
    "make address all num3d our over remove internet order mail receive will people report addresses free business "
    "email you credit your font num000 money hp hpl george num650 lab labs telnet num857 data num415 num85 technology "
    "num1999 parts pm direct cs meeting original project re edu table conference charSemicolon charRoundbracket "
    "charSquarebracket charExclamation charDollar charHash capitalAve capitalLong capitalTotal"
)


def _spam() -> Rows:
    """Skewed, mostly zero columns, as shares of words are."""
    rng = np.random.default_rng(0)
    y = np.repeat(["nonspam", "spam"], [2788, 1813])
    lift = rng.normal(0.0, 0.9, 57)
    rate = np.exp(-2.0 + np.outer(y == "spam", lift))
    x = rng.poisson(rate) * rng.gamma(1.0, 1.0, rate.shape)
    what = "4601 synthetic rows of 57 columns of word shares"
    return Rows(x, y, tuple(SPAM_COLUMNS.split()), stand_in=SAY.format(name="spam", what=what))


def _vowel() -> Rows:
    rng = np.random.default_rng(0)
    means, root = rng.normal(0.0, 1.0, (11, 10)), rng.normal(0.0, 0.5, (10, 10)) + np.eye(10)
    parts = []
    for rows in (528, 462):
        y = np.arange(rows) % 11 + 1
        parts.append((means[y - 1] * np.linspace(2.0, 0.2, 10) + rng.normal(size=(rows, 10)) @ root * 0.7, y))
    said = SAY.format(name="vowel", what="synthetic Gaussian rows of 11 classes")
    return Rows(*parts[0], tuple(f"x{j + 1}" for j in range(10)), parts[1], said)


def _lymphoma() -> Rows:
    rng = np.random.default_rng(0)
    y = np.repeat(["DLBCL", "FL", "CLL"], [42, 9, 11])
    shift = rng.normal(size=(3, 4026)) * (rng.random((3, 4026)) < 0.05) * 1.5
    x = shift[np.repeat([0, 1, 2], [42, 9, 11])] + rng.normal(size=(62, 4026))
    said = SAY.format(name="lymphoma", what="62 synthetic rows of 4026 columns")
    return Rows(x, y, tuple(f"gene {j + 1}" for j in range(4026)), stand_in=said)


def _boston() -> Rows:
    """The first five rows, as the lecture prints them."""
    columns = {
        "crim": (0.00632, 0.02731, 0.02729, 0.03237, 0.06905),
        "zn": (18, 0, 0, 0, 0),
        "indus": (2.31, 7.07, 7.07, 2.18, 2.18),
        "chas": (0, 0, 0, 0, 0),
        "nox": (0.538, 0.469, 0.469, 0.458, 0.458),
        "rm": (6.58, 6.42, 7.18, 7.0, 7.15),
        "age": (65.2, 78.9, 61.1, 45.8, 54.2),
        "dis": (4.09, 4.97, 4.97, 6.06, 6.06),
        "rad": (1, 2, 2, 3, 3),
        "tax": (296, 242, 242, 222, 222),
        "ptratio": (15.3, 17.8, 17.8, 18.7, 18.7),
        "black": (397, 397, 393, 395, 397),
        "lstat": (4.98, 9.14, 4.03, 2.94, 5.33),
    }
    said = "The Boston data are not on this computer: the five rows that the lecture prints stand in for all 506."
    return Rows(
        np.array(list(columns.values()), float).T, np.array([24.0, 21.6, 34.7, 33.4, 36.2]), tuple(columns), None, said
    )


STAND_INS: dict[str, Callable[[], Rows]] = {"boston": _boston, "spam": _spam, "vowel": _vowel, "lymphoma": _lymphoma}
