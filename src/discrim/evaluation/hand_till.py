"""The area under the curve for more than two classes."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from discrim.errors import DataError, name_list
from discrim.evaluation.answers import checked_posterior
from discrim.evaluation.delong import sorted_placements


def multiclass_auc(y: Any, posterior: Any, classes: Any = None) -> float:
    """Hand and Till's M (2001): the mean over all pairs of classes of how well these two are told apart.

    For a pair (j, k) it is the mean of two areas among the rows of these classes: of the posterior of j, with j
    positive, and of the posterior of k, with k positive. Insensitive to how frequent the classes are; for two
    classes with posteriors that sum to one it is the area under the ROC curve. Cost: K (K - 1) sorts of two classes.
    """
    known, codes, p = checked_posterior(y, posterior, classes)
    present = [k for k in range(len(known)) if (codes == k).any()]
    if len(present) < 2:
        raise DataError(f"y has only the class {name_list(known[present])}; an area needs rows of two classes.")
    columns = [[np.sort(p[codes == of, k]) for of in present] for k in present]
    areas = [
        0.5 * (_area(columns[a][a], columns[a][b]) + _area(columns[b][b], columns[b][a]))
        for a, b in combinations(range(len(present)), 2)
    ]
    return float(np.mean(areas))


def _area(high: Any, low: Any) -> float:
    return float(sorted_placements(high, low)[0].mean())
