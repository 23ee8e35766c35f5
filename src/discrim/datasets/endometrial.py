"""Endometrial cancer: a small table in which one column separates the classes in part."""

from __future__ import annotations

import numpy as np

from discrim.datasets.dataset import Dataset, bundled_columns

FEATURES = ("NV", "PI", "EH")


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
    columns = bundled_columns("endometrial.csv")
    return Dataset(
        data=np.column_stack([columns[name].astype(np.float64) for name in FEATURES]),
        target=columns["HG"].astype(np.int64),
        feature_names=FEATURES,
        target_names=("low grade", "high grade"),
        description=(
            "79 cases of endometrial cancer: neovascularisation NV (0 absent, 1 present), pulsatility index PI "
            "of the uterine artery, endometrium height EH, and the histology grade HG (0 low, 1 high). Provided "
            "by E. Asseryanis, Medical University of Vienna, published by G. Heinze and M. Schemper, 'A solution "
            "to the problem of separation in logistic regression', Statistics in Medicine 21 (2002) 2409-2419."
        ),
    )
