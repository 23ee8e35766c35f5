"""Which (alpha, gamma): the losses of a whole grid over held-out rows, and the choice from them."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from discrim.errors import ParameterError
from discrim.solvers.regularized import Grid, Moments, score_blocks
from discrim.typing import Floats

Selection = Literal["min", "one-se"]

# The loss of a row whose class got no probability at all: finite, so that means still compare.
_LARGEST_LOSS = -float(np.log(np.finfo(np.float64).tiny))


def cross_validated_loss(
    moments: Moments,
    x: NDArray[Any],
    codes: NDArray[np.int32],
    fold_of_row: NDArray[Any],
    grid: Grid,
    log_priors: Floats | None = None,
    sample_weight: Floats | None = None,
) -> tuple[Floats, Floats, Floats]:
    """Error (A, G, F), log loss (A, G, F) and weight (F,) of the test rows of every fold.

    ``moments`` are those of the training parts, with a leading axis F. ``log_priors`` are given (K,) or
    per fold (F, K); None estimates them from the training weights. Losses are means over the rows of a
    fold; a setting that is infeasible in a fold is NaN there. Scores are reduced as they are made.
    O(F A K p^3 + n A K p (p + G)).
    """
    n_folds = moments.weight.shape[0]
    weight = np.ones(x.shape[0]) if sample_weight is None else sample_weight
    if log_priors is None:
        log_priors = estimated_log_priors(moments.weight)
    log_priors = np.broadcast_to(log_priors, moments.weight.shape)
    order = np.argsort(fold_of_row, kind="stable")
    ends = np.searchsorted(fold_of_row[order], np.arange(n_folds + 1))
    error = np.zeros((len(grid.alphas), len(grid.gammas), n_folds))
    log_loss = np.zeros_like(error)
    n_test = np.zeros(n_folds)
    for fold in range(n_folds):
        rows = order[ends[fold] : ends[fold + 1]]
        training = Moments(moments.weight[fold], moments.mean[fold], moments.scatter[fold])
        row_codes, row_weight = codes[rows], weight[rows]
        for settings, part, scores in score_blocks(training, x[rows], grid, log_priors[fold]):
            wrong, loss = row_losses(scores, row_codes[part])
            error[settings, :, fold] += wrong @ row_weight[part]
            log_loss[settings, :, fold] += loss @ row_weight[part]
        n_test[fold] = row_weight.sum()
    filled = np.where(n_test > 0.0, n_test, 1.0)
    return error / filled, log_loss / filled, n_test


def estimated_log_priors(weight: Floats) -> Floats:
    """log n_k/n along the last axis; -inf for a class without weight."""
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(weight / weight.sum(axis=-1, keepdims=True))
    return logs


def row_losses(scores: Floats, codes: NDArray[np.int32]) -> tuple[Floats, Floats]:
    """From scores (a, K, G, n): whether each row is misclassified (1 or 0) and its log loss, (a, G, n).

    Of classes that tie for the best score the first is predicted. NaN scores give NaN losses.
    """
    top = scores.max(axis=1)
    own = np.take_along_axis(scores, codes[None, None, None, :].astype(np.intp), axis=1)[:, 0]
    earlier = np.arange(scores.shape[1])[:, None] < codes
    beaten = ((scores == top[:, None]) & earlier[:, None, :]).any(axis=1)
    wrong = np.where(np.isnan(top), np.nan, (own < top) | beaten)
    with np.errstate(invalid="ignore"):
        loss = np.log(np.exp(scores - top[:, None]).sum(axis=1)) + top - own
    return wrong, np.minimum(loss, _LARGEST_LOSS)


def choose(
    grid: Grid, error: Floats, log_loss: Floats, n_test: Floats, selection: Selection = "min"
) -> tuple[int, int, dict[str, Floats]]:
    """The indices of the chosen alpha and gamma, and the error surface.

    Means over folds are weighted by w_f = n_f/n, and the standard error of a mean error e is
    sqrt(sum_f w_f (e_f - e)^2/(F - 1)), which for equal folds is the usual one.

    "min" takes the smallest error, among equals the smallest log loss, among those the most regularised
    (smallest alpha, then smallest gamma); "one-se" the most regularised setting whose error is within
    one standard error of the smallest. A setting that is NaN in some fold is infeasible.
    """
    used = n_test > 0.0
    share = n_test[used] / n_test.sum()
    mean = error[..., used] @ share
    spread = np.square(error[..., used] - mean[..., None]) @ share
    table = {
        "mean_error": mean,
        "std_error": np.sqrt(spread / max(int(used.sum()) - 1, 1)),
        "mean_log_loss": log_loss[..., used] @ share,
    }
    return *choose_from(grid, table, selection), table


def choose_from(grid: Grid, table: dict[str, Floats], selection: Selection) -> tuple[int, int]:
    """``choose`` where the surface is there already: (A, G) arrays as in its table."""
    mean, log_loss = table["mean_error"], table["mean_log_loss"]
    feasible = np.isfinite(mean) & np.isfinite(log_loss)
    if not feasible.any():
        raise ParameterError(
            "No setting of alpha and gamma gives every class a covariance matrix with an inverse in every "
            "training part. Add values of gamma below 1 to the grid (for example 0.5), use "
            "target='identity' if a column is constant, or use fewer folds."
        )
    best = np.unravel_index(np.argmin(np.where(feasible, mean, np.inf)), mean.shape)
    # Sums over folds in another order differ in the last digits; such errors are equal.
    slack = 1e-12 * (1.0 + np.abs(mean[best]))
    if selection == "one-se":
        allowed = feasible & (mean <= mean[best] + table["std_error"][best] + slack)
    else:
        allowed = feasible & (mean <= mean[best] + slack)
        least = log_loss[allowed].min()
        allowed &= log_loss <= least + 1e-12 * (1.0 + abs(least))
    rows, cols = np.nonzero(allowed)
    first = np.lexsort((grid.gammas[cols], grid.alphas[rows]))[0]
    return int(rows[first]), int(cols[first])
