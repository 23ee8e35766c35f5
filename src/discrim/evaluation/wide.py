"""More columns than training rows: models that a rotation leaves as they are, solved in the rows' space."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.families.recipe import rotated
from discrim.models import RidgeClassifier
from discrim.typing import Floats


def rotated_rows(model: Any, x: NDArray[Any]) -> Floats | None:
    """The rows in as many columns as they span; None where ``model`` would give other answers on these."""
    if type(model) is not RidgeClassifier or not model.fit_intercept or model.positive:
        return None
    return rotated(x) if (np.asarray(model.alpha) > 0).all() else None
