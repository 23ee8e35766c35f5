"""Parameters that the online classifiers share, and their constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discrim.engines.orders import Shuffle
from discrim.models.parameters import Check, above, boolean, either, integer, none, number, one_of, seed


@dataclass(eq=False, repr=False, kw_only=True)
class EpochParameters:
    """Parameters of learning in epochs, with scikit-learn's names and defaults.

    Estimators of this family are dataclasses: their parameters are the fields, and ``__init__`` is made from them.
    """

    fit_intercept: bool = True
    max_iter: int = 1000
    tol: float | None = 1e-3
    shuffle: Shuffle = True
    verbose: int = 0
    n_jobs: int | None = None
    random_state: Any = None
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    class_weight: Any = None
    warm_start: bool = False


SHARED: dict[str, Check] = {
    "penalty": one_of("l2", "l1", "elasticnet", None),
    "alpha": number(0),
    "l1_ratio": either(number(0, 1), none()),
    "fit_intercept": boolean(),
    "max_iter": integer(1),
    "tol": either(number(0), none()),
    "shuffle": either(boolean(), one_of("rows", "blocks")),
    "verbose": either(boolean(), integer(0)),
    "n_jobs": either(integer(-1000), none()),
    "random_state": seed(),
    "early_stopping": boolean(),
    "validation_fraction": above(0, 1),
    "n_iter_no_change": integer(1),
    "class_weight": either(one_of("balanced", None), (lambda v: isinstance(v, dict), "a dict of class to weight")),
    "warm_start": boolean(),
    "average": either(boolean(), integer(1)),
}
