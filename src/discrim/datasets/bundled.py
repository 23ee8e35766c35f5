"""Data that come along: the type that every loader returns, and four loaders."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discrim.errors import MissingDependencyError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Rows ``data`` (n x p) with one label each in ``target``.

    Parameters
    ----------
    data : float64 array of shape (n, p)
    target : array of n labels
    feature_names : the p column names
    target_names : what the sorted labels stand for, in their order
    description : what was measured, and where it was published
    extra : further columns of n values that describe the rows but are not features

    Examples
    --------
    >>> from discrim.datasets import load_crabs
    >>> X, y = load_crabs().xy
    >>> X.shape, str(y[0])
    ((200, 5), 'BM')
    """

    data: NDArray[np.float64]
    target: NDArray[Any]
    feature_names: tuple[str, ...]
    target_names: tuple[str, ...]
    description: str
    extra: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    @property
    def xy(self) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Features and labels, as every ``fit`` takes them."""
        return self.data, self.target

    def frame(self) -> pd.DataFrame:
        """One pandas table: the features, then ``target``, then the extra columns."""
        try:
            import pandas as pd
        except ImportError as missing:
            raise MissingDependencyError(
                "Dataset.frame() needs the package 'pandas'. Install it with: pip install pandas"
            ) from missing
        table = pd.DataFrame(self.data, columns=list(self.feature_names))
        return table.assign(target=self.target, **self.extra)

    def __repr__(self) -> str:
        n, p = self.data.shape
        features, classes = ", ".join(self.feature_names[:6]), ", ".join(self.target_names)
        more = ", ..." if p > 6 else ""
        return f"Dataset of {n} rows x {p} columns ({features}{more}); classes: {classes}"


def _columns_of(name: str) -> dict[str, NDArray[np.str_]]:
    """The columns of a table in this folder as text, by name."""
    text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    header, *rows = csv.reader(text.splitlines())
    return dict(zip(header, np.array(rows).T, strict=True))


def load_challenger() -> Dataset:
    """23 shuttle launches: temperature in Fahrenheit, and whether any O-ring showed distress (1) or not (0).

    ``extra`` holds the order of the launch, the leak-check pressure, the number of O-rings (always 6)
    and how many of them showed distress.

    Examples
    --------
    >>> from discrim.datasets import load_challenger
    >>> rings = load_challenger()
    >>> int(rings.target.sum()), float(rings.data[rings.target == 1].min())
    (7, 53.0)
    """
    columns = {name: values.astype(np.int64) for name, values in _columns_of("challenger.csv").items()}
    return Dataset(
        data=columns["temperature"].astype(np.float64)[:, None],
        target=(columns["n_distress"] > 0).astype(np.int64),
        feature_names=("temperature",),
        target_names=("no distress", "distress"),
        description=(
            "The 23 launches of the space shuttle before the Challenger accident of January 1986 whose "
            "motors were recovered: temperature of the joints at launch in degrees Fahrenheit, and thermal "
            "distress (erosion or blow-by) of the six field-joint O-rings. Published by S. R. Dalal, "
            "E. B. Fowlkes and B. Hoadley, 'Risk analysis of the space shuttle: pre-Challenger prediction "
            "of failure', Journal of the American Statistical Association 84 (1989) 945-957."
        ),
        extra={name: columns[name] for name in ("order", "pressure", "n_orings", "n_distress")},
    )


def load_crabs(log: bool = False) -> Dataset:
    """200 rock crabs: five lengths in millimetres, four groups (colour form by sex).

    Labels are the colour form (B blue, O orange) followed by the sex (F, M); the two are also in
    ``extra["sp"]`` and ``extra["sex"]``. All lengths grow with the crab, and their logarithms are
    close to Gaussian with equal covariances: ``log=True`` gives natural logarithms under the same names.

    Examples
    --------
    >>> from discrim.datasets import load_crabs
    >>> load_crabs()
    Dataset of 200 rows x 5 columns (FL, RW, CL, CW, BD); classes: BF, BM, OF, OM
    """
    columns, features = _columns_of("crabs.csv"), ("FL", "RW", "CL", "CW", "BD")
    data = np.column_stack([columns[name].astype(np.float64) for name in features])
    target = np.char.add(columns["sp"], columns["sex"])
    return Dataset(
        data=np.log(data) if log else data,
        target=target,
        feature_names=features,
        target_names=tuple(np.unique(target).tolist()),
        description=(
            "Rock crabs Leptograpsus variegatus collected at Fremantle, Western Australia: 50 of each sex "
            "of the blue (B) and of the orange (O) form. Frontal lobe size FL, rear width RW, carapace "
            "length CL, carapace width CW and body depth BD in millimetres"
            + (", as natural logarithms" if log else "")
            + ". Published by N. A. Campbell and R. J. Mahon, 'A multivariate study of variation in two "
            "species of rock crab of genus Leptograpsus', Australian Journal of Zoology 22 (1974) 417-425."
        ),
        extra={"sp": columns["sp"], "sex": columns["sex"]},
    )


def load_endometrial() -> Dataset:
    """79 women with endometrial cancer: three risk factors, and histology of low (0) or high (1) grade.

    Every woman with neovascularisation (``NV`` = 1) has a high grade, while those without have either.
    The maximum likelihood estimate of the coefficient of ``NV`` is therefore infinite.

    Examples
    --------
    >>> from discrim.datasets import load_endometrial
    >>> cases = load_endometrial()
    >>> present = cases.data[:, 0] == 1
    >>> int(present.sum()), int(cases.target[present].sum()), int(cases.target.sum())
    (13, 13, 30)
    """
    columns, features = _columns_of("endometrial.csv"), ("NV", "PI", "EH")
    return Dataset(
        data=np.column_stack([columns[name].astype(np.float64) for name in features]),
        target=columns["HG"].astype(np.int64),
        feature_names=features,
        target_names=("low grade", "high grade"),
        description=(
            "79 cases of endometrial cancer: neovascularisation NV (0 absent, 1 present), pulsatility index PI "
            "of the uterine artery, endometrium height EH, and the histology grade HG (0 low, 1 high). Provided "
            "by E. Asseryanis, Medical University of Vienna, published by G. Heinze and M. Schemper, 'A solution "
            "to the problem of separation in logistic regression', Statistics in Medicine 21 (2002) 2409-2419."
        ),
    )


def load_iris() -> Dataset:
    """150 iris flowers of three species, four lengths in centimetres each.

    The values are those inside the installed scikit-learn, which are also those of R.

    Examples
    --------
    >>> from discrim.datasets import load_iris
    >>> load_iris()
    Dataset of 150 rows x 4 columns (sepal_length, sepal_width, petal_length, petal_width); \
classes: setosa, versicolor, virginica
    """
    # Imported here: sklearn.datasets is slow to import and only this loader needs it.
    from sklearn import datasets

    data, codes = datasets.load_iris(return_X_y=True)
    species = np.array(["setosa", "versicolor", "virginica"])
    return Dataset(
        data=np.asarray(data, dtype=np.float64),
        target=species[codes],
        feature_names=("sepal_length", "sepal_width", "petal_length", "petal_width"),
        target_names=tuple(species.tolist()),
        description=(
            "Length and width in centimetres of the sepals and petals of 50 flowers from each of "
            "Iris setosa, Iris versicolor and Iris virginica. Collected by E. Anderson, published by "
            "R. A. Fisher, 'The use of multiple measurements in taxonomic problems', "
            "Annals of Eugenics 7 (1936) 179-188."
        ),
    )
