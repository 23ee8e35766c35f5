"""Fisher's iris flowers."""

from __future__ import annotations

import numpy as np

from discrim.datasets.dataset import Dataset


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
