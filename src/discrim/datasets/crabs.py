"""Rock crabs of two colour forms and two sexes."""

from __future__ import annotations

import numpy as np

from discrim.datasets.dataset import Dataset, bundled_columns

FEATURES = ("FL", "RW", "CL", "CW", "BD")


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
    columns = bundled_columns("crabs.csv")
    data = np.column_stack([columns[name].astype(np.float64) for name in FEATURES])
    target = np.char.add(columns["sp"], columns["sex"])
    return Dataset(
        data=np.log(data) if log else data,
        target=target,
        feature_names=FEATURES,
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
