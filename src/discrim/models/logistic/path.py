"""The path of lasso and elastic-net logistic regression: all penalties from the largest to the least."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray
from scipy import special

from discrim.block import Block
from discrim.engines import RowPasses, passes_over
from discrim.errors import DataError, DiscrimWarning, ParameterError, name_list, plural, warn
from discrim.families.logistic.elastic_net import PathProblem, path_scores, problem_of
from discrim.families.recipe import OneBlock, row_losses
from discrim.inference.summary import Summary, Table
from discrim.models.logistic.regression import open_training
from discrim.models.logistic.training import Training
from discrim.models.parameters import Check, boolean, either, integer, none, number, numbers, positive
from discrim.parallel import one_blas_thread, run, thread_count
from discrim.sources import Design, Scan, in_memory, open_rows
from discrim.sources.rows import check_labelled
from discrim.statistics.folds import Folds, fold_numbers
from discrim.typing import Floats

if TYPE_CHECKING:
    import pandas as pd

# Lambdas that a printed path shows.
SHOWN = 12
# As cv.glmnet: probabilities are held this far from 0 and 1 in a deviance.
LEAST_PROBABILITY = 1e-5
# As the gap of a path, where only deviances are computed from a fold: this leaves them six digits or more.
FOLD_GAP = 1e-15
# Rows a fold below which rows, not folds, are what the standard error is taken over.
FEW = 3


class PathOptions(TypedDict, total=False):
    """The further parameters of ``logistic_path``."""

    lambda_min_ratio: float | None
    offset: Any
    standardize: bool
    fit_intercept: bool
    early_stop: bool
    gap: float | None


DEFAULTS: PathOptions = {
    "lambda_min_ratio": None,
    "offset": None,
    "standardize": True,
    "fit_intercept": True,
    "early_stop": True,
    "gap": None,
}
CHECKS: dict[str, Check] = {
    "l1_ratio": number(0, 1),
    "lambdas": either(none(), numbers(0)),
    "n_lambdas": integer(1),
    "lambda_min_ratio": either(none(), number(1e-300, 1)),
    "standardize": boolean(),
    "fit_intercept": boolean(),
    "early_stop": boolean(),
    "gap": either(none(), positive()),
}


def logistic_path(
    X: Any,
    y: Any = None,
    l1_ratio: float = 1.0,
    lambdas: Any = None,
    n_lambdas: int = 100,
    *,
    sample_weight: Any = None,
    cv: Any = None,
    **options: Unpack[PathOptions],
) -> LogisticPath:
    """Logistic regression for every penalty of a grid, in the scaling of R's glmnet.

    **Model.** P(second class | x) = 1 / (1 + exp(-(b0 + b'x + offset))); for K > 2 classes the softmax of b_k0 + b_k'x.

    **Estimate.** For each lambda the minimum of (1 / sum w) sum_i w_i loss_i + lambda (l1_ratio |b|_1 +
    (1 - l1_ratio) / 2 |b|^2), with the slopes of columns that are scaled to variance 1 (weighted, divided by n) if
    ``standardize``; coefficients are those of the columns as they came. Intercepts are free.

    Cost: with many rows one or two passes over them a lambda, and fewer still where the path is smooth; with many
    columns one look at all columns a lambda, and sweeps over the few that matter.

    Parameters
    ----------
    X, y : array, frame, sparse matrix with labels; or a ``scan``, which brings its own labels and weights
    l1_ratio : float in [0, 1], 1 for the lasso, 0 for ridge
    lambdas : list of floats, solved from the largest down; by default ``n_lambdas`` from lambda_max, where all
        slopes are zero, to ``lambda_min_ratio`` of it, evenly on the log scale
    n_lambdas : int
    sample_weight : n numbers
    cv : number of (stratified) folds, splitter, list of (train, test), or the number of the fold of each row; None for
        no cross-validation
    lambda_min_ratio : float; by default 1e-4 with more rows than columns, else 1e-2
    offset : n numbers, known parts of the linear predictor (two classes)
    standardize, fit_intercept : bool
    early_stop : bool
        End a grid of our own as glmnet does: from the fifth lambda on, where the share of deviance explained exceeds
        0.999 or grows by less than 1e-5. Lambdas that are given are all solved.
    gap : float, how far the value per unit of weight may be from its minimum; the default leaves about six digits

    Returns
    -------
    LogisticPath

    Examples
    --------
    >>> from discrim import datasets, logistic_path
    >>> crabs = datasets.load_crabs()
    >>> path = logistic_path(crabs.data, crabs.extra["sex"], lambdas=[0.1, 0.01])
    >>> path.df.tolist()
    [1, 3]
    """
    unknown = [name for name in options if name not in DEFAULTS]
    if unknown:
        raise TypeError(
            f"logistic_path() got an unexpected argument '{unknown[0]}'; it takes {name_list(DEFAULTS, 20)}."
        )
    chosen: PathOptions = {**DEFAULTS, **options}
    _check(chosen, l1_ratio=l1_ratio, lambdas=lambdas, n_lambdas=n_lambdas)
    rows = _open(X, y, sample_weight, chosen["offset"])
    columns = {"standardize": chosen["standardize"], "intercept": chosen["fit_intercept"]}
    problem = problem_of(rows, float(l1_ratio), **columns)
    follower = problem.follower(gap=chosen["gap"])
    if lambdas is None:
        grid = problem.grid(follower, n_lambdas, chosen["lambda_min_ratio"])
    else:
        grid = np.sort(np.asarray(lambdas, dtype=np.float64))[::-1]
    null_loss = follower.loss
    steps = problem.follow(follower, grid, early_stop=chosen["early_stop"] and lambdas is None)
    theta = np.stack([step.theta for step in steps])
    used = theta[..., 1:] != 0
    path = LogisticPath(
        lambdas=grid[: len(steps)],
        coef=theta[..., 1:],
        intercept=theta[..., 0],
        dev_ratio=1.0 - np.array([step.loss for step in steps]) / null_loss,
        df=(used.any(axis=1) if used.ndim == 3 else used).sum(axis=1),
        null_deviance=2.0 * null_loss,
        classes_=problem.classes,
        n_passes=follower.passes,
        solver_=follower.solver,
        design=rows.rows.design,
        converged=np.array([step.converged for step in steps]),
    )
    if not path.converged.all():
        warn(
            f"At {plural(int((~path.converged).sum()), 'lambda')} of {len(path.lambdas)} the minimum was not reached. "
            "Offsets or columns may be too large, or lambda too small for classes that can be separated.",
            DiscrimWarning,
        )
    if cv is None:
        return path
    mean, error, folds = _cross_validated(problem, path.lambdas, cv, chosen["gap"])
    return replace(path, cv_mean=mean, cv_se=error, folds=folds)


def _open(X: Any, y: Any, sample_weight: Any, offset: Any) -> RowPasses:
    if isinstance(X, Scan) and offset is not None:
        raise DataError("The rows of a scan have no offset; pass an array or a frame.")
    rows = open_training(open_rows, Training(X, y, sample_weight, offset))
    if isinstance(rows, Scan):
        check_labelled(rows)
        return RowPasses(rows)
    if not rows.labelled:
        raise DataError("logistic_path requires y to be passed, but the target y is None.")
    return passes_over(rows.whole if rows.whole is not None else in_memory(rows), rows.design)


def _check(options: PathOptions, *, l1_ratio: Any, lambdas: Any, n_lambdas: Any) -> None:
    values = {**options, "l1_ratio": l1_ratio, "lambdas": lambdas, "n_lambdas": n_lambdas}
    for name, (fits, expected) in CHECKS.items():
        if not fits(values[name]):
            raise ParameterError.bad_value(name, values[name], expected)


@dataclass(frozen=True, eq=False, repr=False)
class LogisticPath:
    """Coefficients for every lambda, and how well each explains the rows.

    Attributes
    ----------
    lambdas : L penalties, from the largest down
    coef : L x p slopes of the second class, or L x K x p, for the columns as they came
    intercept : L, or L x K (these sum to zero)
    dev_ratio : L shares of the null deviance that are explained
    df : L numbers of columns with a slope
    null_deviance : float, of the model with intercepts (and offset) alone
    classes_ : the labels
    n_passes : how often all rows, or all columns, were read
    solver_ : 'coordinate-gram' or 'coordinate-columns'
    converged : L flags; False where no step lowered the value any more before the minimum was reached
    cv_mean, cv_se : L means of the deviance of left-out rows, and their standard errors; None without ``cv``
    lambda_min_, lambda_1se_ : the lambda of the least mean, and the largest whose mean is within one error of it
    """

    lambdas: Floats
    coef: Floats
    intercept: Floats
    dev_ratio: Floats
    df: NDArray[np.int64]
    null_deviance: float
    classes_: NDArray[Any]
    n_passes: int
    solver_: str
    design: Design
    converged: NDArray[np.bool_]
    cv_mean: Floats | None = None
    cv_se: Floats | None = None
    folds: NDArray[np.int32] | None = None

    @property
    def lambda_min_(self) -> float:
        mean, _ = self._errors()
        # Of equal means the larger lambda: the smaller model.
        return float(self.lambdas[int(np.argmin(mean))])

    @property
    def lambda_1se_(self) -> float:
        mean, error = self._errors()
        best = int(np.argmin(mean))
        return float(self.lambdas[int(np.argmax(mean <= mean[best] + error[best]))])

    def predict_proba(self, X: Any, at: Any) -> Floats:
        """Probabilities n x K at one lambda: an index (int), one of the ``lambdas`` (float), 'min' or '1se'."""
        i = self._index(at)
        rows = open_rows(X, design=self.design)
        theta = np.atleast_2d(np.concatenate([self.intercept[i, ..., None], self.coef[i]], axis=-1))[None]
        eta = np.concatenate([path_scores(theta, block)[0] for block in rows.blocks()], axis=1)
        if not np.isfinite(eta).all():
            raise DataError("Input X contains NaN or infinity, or numbers too large for these coefficients.")
        return np.asarray(special.softmax(eta.T, axis=1))

    def predict(self, X: Any, at: Any) -> NDArray[Any]:
        """The most probable class at one lambda."""
        return np.asarray(self.classes_[self.predict_proba(X, at).argmax(axis=1)])

    def plot(self, **options: Any) -> Any:
        """The coefficients along the path, as matplotlib axes: ``discrim.plots.path`` with its options."""
        from discrim import plots

        return plots.path(self, **options)

    def to_frame(self) -> pd.DataFrame:
        """One row a lambda: lambda, df, dev_ratio, and the errors where there are any."""
        return self._table(np.arange(len(self.lambdas))).to_frame()

    def __repr__(self) -> str:
        return str(self._summary())

    def _repr_html_(self) -> str:
        return self._summary().to_html()

    def _summary(self) -> Summary:
        count = len(self.lambdas)
        shown = np.unique(np.linspace(0, count - 1, min(SHOWN, count)).round().astype(int))
        facts: dict[str, object] = {
            "Lambdas": count,
            "Columns": self.coef.shape[-1],
            "Classes": len(self.classes_),
            "Null deviance": self.null_deviance,
            "Solver": f"{self.solver_}, {self.n_passes} passes",
        }
        if self.cv_mean is not None:
            facts |= {"lambda_min": self.lambda_min_, "lambda_1se": self.lambda_1se_}
        return Summary("Path of penalised logistic regression", facts, [self._table(shown)])

    def _table(self, places: NDArray[np.intp]) -> Table:
        columns = {"lambda": self.lambdas, "df": self.df, "dev_ratio": self.dev_ratio}
        if self.cv_mean is not None and self.cv_se is not None:
            columns |= {"cv_mean": self.cv_mean, "cv_se": self.cv_se}
        values = np.column_stack([np.asarray(column, float)[places] for column in columns.values()])
        return Table("Path", [str(i) for i in places], list(columns), values)

    def _errors(self) -> tuple[Floats, Floats]:
        if self.cv_mean is None or self.cv_se is None:
            raise ParameterError("This path was not cross-validated; give `cv` to logistic_path to choose a lambda.")
        return self.cv_mean, self.cv_se

    def _index(self, at: Any) -> int:
        if isinstance(at, str) and at in ("min", "1se"):
            at = self.lambda_min_ if at == "min" else self.lambda_1se_
        if isinstance(at, (int, np.integer)) and -len(self.lambdas) <= at < len(self.lambdas):
            return int(at) % len(self.lambdas)
        if isinstance(at, (float, np.floating)):
            nearest = int(np.argmin(np.abs(self.lambdas - at)))
            if np.isclose(self.lambdas[nearest], at, rtol=1e-9, atol=0.0):
                return nearest
        expected = f"an index below {len(self.lambdas)}, one of the path's lambdas, 'min' or '1se'"
        raise ParameterError.bad_value("at", at, expected)


def _cross_validated(
    problem: PathProblem, lambdas: Floats, cv: Any, gap: float | None
) -> tuple[Floats, Floats, NDArray[np.int32]]:
    """Mean deviance a row on left-out folds, its standard error, and the fold of each row.

    As cv.glmnet: the mean over folds is weighted by their weights, and the error is that of this mean. Every fold
    scales its columns anew. Folds run side by side, each on one thread. Cost: a path a fold.
    """
    block = problem.rows.whole
    if block is None:
        raise DataError("The folds of a cross-validation are drawn in memory; pass an array or a frame, not a scan.")
    folds, gap = _folds_of(cv, block), FOLD_GAP if gap is None else gap
    with one_blas_thread():
        # A path often returns to Python, where more threads than cores only wait for each other.
        deviances = run(lambda f: _left_out(problem, folds, f, lambdas, gap), len(folds.parts), workers=thread_count())
    weight = np.ones(len(block)) if block.weight is None else block.weight
    if len(block) < FEW * len(folds.parts):
        each, size = np.empty((len(block), len(lambdas))), weight
        for f, deviance in enumerate(deviances):
            each[folds.test(f)] = deviance
        count = len(block)
    else:
        parts = [weight[folds.test(f)] for f in range(len(folds.parts))]
        size, count = np.array([part.sum() for part in parts]), len(parts)
        each = np.stack([part @ deviance / part.sum() for part, deviance in zip(parts, deviances, strict=True)])
    mean = size @ each / size.sum()
    error = np.sqrt(size @ (each - mean) ** 2 / size.sum() / (count - 1))
    return mean, error, folds.number


def _folds_of(cv: Any, block: Block) -> Folds:
    """``cv`` as a number of folds, a splitter, a list of (train, test), or the fold of each row."""
    if hasattr(cv, "__len__") and len(cv) == len(block) and np.isscalar(next(iter(cv))):
        from sklearn.model_selection import PredefinedSplit

        cv = PredefinedSplit(np.unique(cv, return_inverse=True)[1])
    return fold_numbers(cv, block.codes)


def _left_out(problem: PathProblem, folds: Folds, f: int, lambdas: Floats, gap: float) -> Floats:
    """Deviances (rows of the fold x L) by paths that did not see them."""
    block = problem.rows.whole
    assert block is not None
    kept = block.take(folds.train(f))
    weight = np.bincount(kept.codes, kept.weight, len(block.classes))
    if not weight.all():
        lost = name_list(block.classes[weight == 0])
        raise DataError(f"Fold {f} holds out every row of {lost} that counts. Use fewer or stratified folds.")
    options = {"standardize": problem.standardize, "intercept": problem.intercept}
    train = problem_of(OneBlock(kept), problem.l1_ratio, **options)
    theta = np.stack([step.theta for step in train.follow(train.follower(gap=gap), lambdas)])
    return _deviances(theta, block.take(folds.test(f)))


def _deviances(theta: Floats, block: Block) -> Floats:
    """-2 log probability of each row's class, n x L; theta is L x (1 + p) or L x K x (1 + p)."""
    _, loss = row_losses(path_scores(theta.reshape(len(theta), -1, theta.shape[-1]), block), block.codes)
    return 2.0 * np.clip(loss, -np.log1p(-LEAST_PROBABILITY), -np.log(LEAST_PROBABILITY)).T
