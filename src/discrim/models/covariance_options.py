"""What a discriminant model may be told about its covariance matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from discrim.block import Block
from discrim.engines import reduce
from discrim.errors import DataError, ParameterError
from discrim.models.parameters import Check, array_like, boolean, either, none, number, one_of, with_method
from discrim.sources import Rows, in_memory
from discrim.typing import Floats

SHRINKAGE: Check = either(number(0, 1), one_of(None, "auto", "ledoit-wolf", "oas", "nonlinear", "cv", "loo"))
COMMON: dict[str, Check] = {
    "shrinkage": SHRINKAGE,
    "priors": either(none(), array_like()),
    "store_covariance": boolean(),
    "tol": number(0),
    "covariance_estimator": either(none(), with_method("fit")),
    "normalization": one_of("mle", "unbiased"),
    "target": one_of("identity", "diagonal"),
    "selection": one_of("min", "one-se"),
}

# scikit-learn's default: up to it the rounding of the arithmetic alone decides which directions are dropped.
DEFAULT_TOL = 1e-4


def rank_tolerance(tol: float) -> float:
    """The user's threshold on scaled singular values, where it asks for more than the default."""
    return float(tol) if tol > DEFAULT_TOL else 0.0


def one_covariance_option(shrinkage: Any, estimator: Any) -> None:
    if estimator is not None and shrinkage is not None and shrinkage != 0:
        raise ParameterError(
            "covariance_estimator and shrinkage parameters are not None. Only one of the two can be set."
        )


def needs_plain_covariance(method: str, *regularisers: Any) -> None:
    """Refuse a way to predict whose formulas hold for the scatter itself only."""
    if any(value is not None and value != 0 for value in regularisers):
        raise ParameterError(
            f"predict_method='{method}' needs covariances as they are: leave shrinkage, reg_param, rank and "
            "covariance_estimator out, or use a Bayesian discriminant, whose prior regularises."
        )


def estimated_covariances(estimator: Any, rows: Rows | None, classes: int) -> list[Floats]:
    """``estimator`` fitted to the rows of each class in turn."""
    if rows is None:
        raise DataError("A covariance_estimator needs the rows themselves: use fit, not a statistic.")
    block = in_memory(rows)
    if block.weight is not None and len(np.unique(block.weight)) > 1:
        raise ParameterError("A covariance_estimator takes no weights: leave sample_weight out, or use shrinkage.")
    x = block.x if isinstance(block.x, np.ndarray) else block.x.toarray()
    return [_estimated_covariance(clone(estimator, safe=False), x[block.codes == k]) for k in range(classes)]


def _estimated_covariance(estimator: Any, x: NDArray[Any]) -> Floats:
    fitted = estimator.fit(x)
    covariance = getattr(estimator if fitted is None else fitted, "covariance_", None)
    if covariance is None:
        raise ParameterError(f"{type(estimator).__name__} does not have a covariance_ attribute.")
    sigma = np.atleast_2d(np.asarray(covariance, dtype=np.float64))
    if sigma.shape != (x.shape[1], x.shape[1]):
        raise ParameterError(
            f"The covariance_ of {type(estimator).__name__} has the shape {sigma.shape}; X has {x.shape[1]} columns."
        )
    return sigma


def fourth_powers(rows: Rows | None, mean: Floats, scales: Floats) -> Floats:
    """sum_i w_i |z_i|^4 of each class, z the rows centred and in units of ``scales``: one more pass."""
    if rows is None or not rows.rereadable:
        raise DataError(
            "Ledoit and Wolf's shrinkage reads the rows twice, which parts, merged models and one-way streams "
            "do not allow. Use a number, 'oas' or 'nonlinear'."
        )
    known = rows.classes

    def of(block: Block) -> Floats:
        codes = block.codes if known is not None else np.searchsorted(all_classes, block.classes)[block.codes]
        x = block.x if isinstance(block.x, np.ndarray) else block.x.toarray()
        total = np.zeros(len(mean))
        for start in range(0, len(x), 4096):
            at = codes[start : start + 4096]
            z = (x[start : start + 4096] - mean[at]) / scales[at]
            norms = np.einsum("ij,ij->i", z, z) ** 2
            if block.weight is not None:
                # What a row of weight zero holds must not matter, even NaN.
                w = block.weight[start : start + 4096]
                norms = np.where(w > 0, norms, 0.0) * w
            total += np.bincount(at, norms, len(mean))
        return total

    all_classes = known if known is not None else np.unique(np.concatenate([b.classes for b in rows.blocks()]))
    return reduce(rows, of, lambda parts: np.sum(parts, axis=0))
