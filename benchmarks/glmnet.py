"""R's glmnet as a peer: one R process a contestant, data by file, time taken inside R."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any
from weakref import finalize

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.job import MissingPeerError, Timed
from benchmarks.logistic_data import PathData

SCRIPT = Path(__file__).with_name("glmnet.R")


class Glmnet:
    """R with the data loaded; every call is a fit."""

    def __init__(self, data: PathData, tol: float) -> None:
        program = shutil.which("Rscript")
        if program is None:
            raise MissingPeerError("R is not installed")
        folder = tempfile.TemporaryDirectory()
        self._folder, self._width = Path(folder.name), 1 + data.X.shape[1]
        _write(data, self._folder)
        self._process = subprocess.Popen(
            [program, "--vanilla", str(SCRIPT), folder.name, repr(tol)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        finalize(self, _end, self._process, folder)
        if self._answer() != "ready":
            raise MissingPeerError("R has no glmnet")

    def __call__(self) -> Timed:
        return Timed(float(self._ask("fit")), self)

    def path(self) -> NDArray[np.float64]:
        """Coefficients of the last fit, lambdas x (1 + p)."""
        self._ask("write")
        return np.fromfile(self._folder / "coefficients").reshape(-1, self._width)

    def _ask(self, line: str) -> str:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


def glmnet_turn(data: PathData, tol: float) -> Glmnet:
    return Glmnet(data, tol)


def path_of(fitted: Glmnet) -> NDArray[np.float64]:
    return fitted.path()


def _write(data: PathData, folder: Path) -> None:
    """The numbers of X by columns, and the rest, as R reads them."""
    files: dict[str, Any] = {"shape": data.X.shape, "y": data.y}
    if data.folds is not None:
        files["folds"] = data.folds
    if sparse.issparse(data.X):
        X = sparse.csc_matrix(data.X)
        X.sort_indices()
        files |= {"indices": X.indices, "starts": X.indptr}
        values = X.data
    else:
        values = data.X.T
    for name, whole in files.items():
        np.asarray(whole, dtype=np.int32).tofile(folder / name)
    values.tofile(folder / "values")
    data.lambdas.tofile(folder / "lambda")


def _end(process: subprocess.Popen[str], folder: tempfile.TemporaryDirectory[str]) -> None:
    process.kill()
    process.communicate()
    folder.cleanup()
