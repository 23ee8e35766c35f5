"""O-rings of the space shuttle before the Challenger accident."""

from __future__ import annotations

import numpy as np

from discrim.datasets.dataset import Dataset, bundled_columns


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
    columns = {name: values.astype(np.int64) for name, values in bundled_columns("challenger.csv").items()}
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
