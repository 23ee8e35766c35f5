"""A logistic fit as summaries, intervals and tests need it, and the quantities that all of them share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from discrim.errors import DataError, ParameterError, WeightsWarning, warn
from discrim.families.logistic.elastic_net_gram import GramFollower
from discrim.families.logistic.firth import firth
from discrim.families.logistic.fit import UNBIASED, SmoothFit
from discrim.families.logistic.objective import (
    CLOSE,
    PENALISED_CLOSE,
    Coordinates,
    Objective,
    Solution,
    newton,
    solver_rows,
)
from discrim.families.logistic.positive import inverse_root
from discrim.families.logistic.recipe import Reweighted, class_weights
from discrim.families.recipe import Passes
from discrim.inference.row_scores import predicted, score_products, weights_are_counts
from discrim.inference.stored_fit import FIELDS, StoredFit
from discrim.later import cached_property
from discrim.sources import Design
from discrim.statistics.likelihood import CURVATURE, LOSS
from discrim.store.kinds import stored
from discrim.typing import Floats, Mask

# Coefficients up to which the cube of their number is a matter of seconds.
MOST_TESTED = 3000
# Distance from the optimum at which the curvature determines the loss of a restricted fit to ten digits.
NEAR = 1e-8
# Rows whose residuals a summary looks at.
MOST_RESIDUALS = 200_000
# What begins with Firth's estimate.
FIRTH = ("firth", *UNBIASED)
# Entries of a basis beyond which a saved model does without it.
LARGE = 500_000


@stored("logistic fit", **FIELDS)
@dataclass(frozen=True, eq=False, kw_only=True)
class Fitted(StoredFit):
    """A fit in the solver's coordinates, with what is needed to report it in the user's.

    theta is 1-d (binary) or K x size (softmax). The reported coefficients are those of log-odds against the class
    ``classes[reference]``: beta_k - beta_reference for every other class k, class by class; for two classes that is
    one vector, with its sign turned where the reference is the second class. Aliased ones are NaN, infinite ones
    +-inf.

    Information I = sum over rows of the second derivatives, curvature H = I + ridge, both on the active entries. The
    covariance of theta is H^-1 without a penalty, and H^-1 I H^-1 with an L2 penalty: the spread of the estimate
    about its own expectation, which is not the true coefficient. Sandwich ones are in ``inference.glm_summary``.

    Parameters
    ----------
    objective : Objective or None
        The rows; None after unpickling.
    coordinates : Coordinates
        Those of the objective.
    solution : Solution
        Where the solver stopped. ``value`` is what it minimised, ``loss`` minus the log-likelihood.
    free : bool array like theta
        False for aliased columns and for the reference class.
    aliased : bool array of 1 + p
        In the user's layout, intercept first.
    ridge : array like theta
    names : list of str
        The p columns.
    terms : sequence of (name, indices)
        Which columns stand or fall together.
    margins : mapping
        Of a term to those that contain it, without which it cannot be left out: ``a`` to ``a:b``.
    classes : array
    rows, weight : int, float
        Rows of positive weight, and their weights' sum.
    null_loss, saturated_loss : float
        Minus the log-likelihood of the model without columns, and of the one that fits every row.
    loglik_constant : float
        What the likelihood has besides, such as binomial coefficients.
    reference : int
    penalty : "none", "l2", "l1", "elasticnet", "firth", "flic" or "flac"
    infinite : array like the user's coefficients
        A direction in which the likelihood rises for ever; 0 where the estimate is finite.
    lasso : float
        The L1 penalty of a coefficient in the user's units.
    selected : str
        The criterion by which ``step`` chose the columns among others; empty where they were given.
    """

    objective: Objective | None
    coordinates: Coordinates
    solution: Solution
    free: Mask
    aliased: Mask
    ridge: Floats
    names: Sequence[str]
    terms: Sequence[tuple[str, Sequence[int]]]
    classes: NDArray[Any]
    rows: int
    weight: float
    null_loss: float
    saturated_loss: float = 0.0
    loglik_constant: float = 0.0
    reference: int = 0
    penalty: str = "none"
    infinite: Floats | None = None
    lasso: float = 0.0
    selected: str = ""
    margins: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, Any]:
        """All but the rows: what they are still needed for is computed first, so that the copy reports the same.

        A scan is not read again for that: its file may be large, or gone.
        """
        if self._stale and not _is_scan(self.problem("A copy").rows):
            _ = self.information
        if self.objective is not None and not (self.sparse_penalty or self.weights_are_counts or self.too_many):
            _ = self.score_products
        if self.objective is not None and self.grouped:
            _ = self.pearson
        if self.objective is not None and not _is_scan(self.objective.rows):
            _ = self.residual_quartiles
        # Matrices as large as the information, which follow from it.
        large = {"root", "own_root", "spread"}
        return {name: value for name, value in self.__dict__.items() if name not in large} | {"objective": None}

    @property
    def softmax(self) -> bool:
        return self.solution.theta.ndim == 2

    @property
    def theta(self) -> Floats:
        return self.solution.theta

    @property
    def sparse_penalty(self) -> bool:
        """Was there a penalty that sets coefficients to zero?"""
        return self.penalty in {"l1", "elasticnet"}

    @property
    def caveat(self) -> str:
        """Why p-values and intervals do not hold, as a sentence below them; empty where they do."""
        if self.selected:
            return (
                f"step() chose the terms by {self.selected.upper()} on the same rows: these p-values are too small and "
                "intervals too narrow. Test the chosen terms on other rows."
            )
        if self.penalty == "l2":
            return "The penalty biases the estimates: p-values and intervals do not hold for the true coefficients."
        return ""

    @property
    def infinite_estimates(self) -> bool:
        return self.infinite is not None and bool(np.any(self.infinite))

    def problem(self, purpose: str) -> Objective:
        """The objective, where the rows are still at hand."""
        if self.objective is None:
            raise DataError(
                f"{purpose} needs the rows that the model was fitted on, and a model that was saved or copied does "
                "not carry them. Fit it again first."
            )
        return self.objective

    def need_likelihood(self, purpose: str) -> None:
        """Refuse what rests on maximum likelihood after a penalty."""
        if self.penalty in UNBIASED:
            raise ParameterError(
                f"{purpose} compares likelihoods, and bias_reduction='{self.penalty}' maximises none. Fit it with "
                "bias_reduction='firth', whose penalised likelihood tests the same slopes."
            )
        if self.penalty in {"l2", "l1", "elasticnet"}:
            raise ParameterError(
                f"{purpose} compares maximum-likelihood fits, and this model has the penalty '{self.penalty}'. "
                "Fit it with C=np.inf."
            )
        if not self.weights_are_counts:
            warn(
                f"{purpose} treats weights as numbers of equal rows, and these are class weights or fractions: its "
                "p-values and intervals do not hold. summary() and confint() have sandwich standard errors that do.",
                WeightsWarning,
            )

    def solve(
        self,
        objective: Objective,
        start: Floats,
        free: Mask,
        *,
        estimated: Mask | None = None,
        close: float = CLOSE,
    ) -> Solution:
        """The minimum over the ``free`` entries, as the fit itself was made.

        ``close`` is how near it Newton's method has to come. ``estimated`` are the entries whose information Firth's
        correction looks at, the free ones unless given.
        """
        if self.sparse_penalty:
            lasso, first = np.full(start.shape, self.lasso), int(self.coordinates.intercept)
            lasso[..., first:] /= self.coordinates.scale
            lasso[..., :first] = 0.0
            return GramFollower(objective, start, free=free).minimum(lasso, self.ridge)
        if self.penalty in FIRTH:
            found = firth(objective, start, free=free, estimated=estimated)
            return found if self.penalty == "firth" else UNBIASED[self.penalty](objective, found, free)
        return newton(objective, start, ridge=self.ridge, free=free, close=close)

    @cached_property
    def active(self) -> NDArray[np.intp]:
        """Places of theta (flat) that were estimated: free, and not set to zero by the penalty."""
        active = self.free.copy()
        if self.sparse_penalty:
            chosen = self.theta != 0
            chosen[..., :1] |= self.coordinates.intercept
            active &= chosen
        return np.flatnonzero(active)

    @cached_property
    def information(self) -> Floats:
        """I at theta, over all of its entries (flat).

        The last pass of most solvers was at the point before theta: then the rows are read once more.
        """
        if self._stale or not self.solution.at.hessian.size:
            return self.problem("A standard error").at(self.theta, depth=CURVATURE).hessian
        return self.solution.at.hessian

    @cached_property
    def root(self) -> Floats:
        """F of theta.size x m with F F' = H^-1 on the active entries, zero elsewhere."""
        curvature = self.information[np.ix_(self.active, self.active)].copy()
        curvature[np.diag_indices_from(curvature)] += self.ridge.ravel()[self.active]
        inverse = inverse_root(curvature)
        root = np.zeros((self.theta.size, inverse.shape[1]))
        root[self.active] = inverse
        return root

    @cached_property
    def weights_are_counts(self) -> bool:
        """Can the weights be numbers of equal rows? Then the model's standard errors are right about them."""
        return self.objective is None or weights_are_counts(self.objective.rows)

    @cached_property
    def grouped(self) -> bool:
        """Are rows groups of trials?"""
        return any(block.share is not None for block in islice(self.problem("A dispersion").rows.blocks(), 1))

    @cached_property
    def pearson(self) -> float:
        """The sum of w (y - mu)^2 / (mu (1 - mu)) over the rows; for K classes of w (y_k - mu_k)^2 / mu_k."""
        total, objective = 0.0, self.problem("A dispersion")
        for block in objective.rows.blocks():
            for part, z in solver_rows(block, objective.classes, self.coordinates, self.theta.size):
                rows = predicted(z @ np.atleast_2d(self.theta).T, part, part.codes)
                spread = rows.mu if self.softmax else rows.mu * rows.other
                squares = np.divide(rows.gap**2, spread, out=np.zeros_like(spread), where=rows.gap != 0)
                total += float(rows.w @ squares.sum(axis=1))
        return total

    @cached_property
    def residual_quartiles(self) -> Floats:
        """Minimum, quartiles and maximum of the deviance residuals; NaN with several classes, or too many rows."""
        from discrim.inference.influence import residuals

        if self.softmax or self.objective is None or self.rows > MOST_RESIDUALS:
            return np.full(5, np.nan)
        return np.asarray(np.quantile(residuals(self), [0.0, 0.25, 0.5, 0.75, 1.0]))

    @cached_property
    def score_products(self) -> Floats:
        """M, the sum of the squared scores of the rows at theta, over all of theta (flat)."""
        return score_products(self.problem("A sandwich standard error"), self.theta)

    @cached_property
    def spread(self) -> Floats:
        """G (q x m) with G G' the covariance of the reported coefficients; rows of undefined ones mean nothing."""
        return self.spread_of(self.own_root)

    @cached_property
    def own_root(self) -> Floats:
        """F with F F' the model's covariance of theta."""
        return self.root_with(self.information) if self.penalty == "l2" else self.root

    def root_with(self, middle: Floats) -> Floats:
        """F with F F' the covariance H^-1 M H^-1 of theta for this M."""
        values, vectors = np.linalg.eigh(self.root.T @ middle @ self.root)
        return np.asarray(self.root @ (vectors * np.sqrt(np.maximum(values, 0.0))))

    def spread_of(self, root: Floats) -> Floats:
        """G with G G' the covariance of the reported coefficients where F F' is that of theta."""
        per_class = root.reshape(self.theta.size // self.coordinates.size, self.coordinates.size, root.shape[1])
        contrasts = np.einsum("rk,ksm->rsm", self.contrasts, per_class)
        reported = self.coordinates.matrix()[self._first :] @ contrasts
        return np.asarray(reported.reshape(len(self.labels), root.shape[1]))

    @cached_property
    def contrasts(self) -> Floats:
        """D with one row for each reported class: its coefficients minus those of the reference."""
        if not self.softmax:
            return np.array([[1.0 if self.reference == 0 else -1.0]])
        others = np.arange(len(self.classes)) != self.reference
        contrasts: Floats = np.eye(len(self.classes))[others]
        contrasts[:, self.reference] = -1.0
        return contrasts

    def functional(self, i: int, coordinates: Coordinates | None = None) -> Floats:
        """c like theta, with c'theta the i-th reported coefficient; zero on entries that are not free.

        In the fit's coordinates, or in others of the same size.
        """
        row, column = divmod(i, 1 + len(self.names) - self._first)
        matrix = (self.coordinates if coordinates is None else coordinates).matrix()
        c = np.outer(self.contrasts[row], matrix[column + self._first])
        return np.where(self.free, c.reshape(self.theta.shape), 0.0)

    @cached_property
    def labels(self) -> list[str]:
        """Names of the reported coefficients: ``class:column`` where there are several classes to report."""
        columns = ["(Intercept)", *self.names][self._first :]
        if not self.softmax:
            return list(columns)
        others = [str(c) for k, c in enumerate(self.classes) if k != self.reference]
        return [f"{label}:{column}" for label in others for column in columns]

    @cached_property
    def defined(self) -> Mask:
        """Which reported coefficients are estimable, finite or not."""
        return np.tile(~self.aliased[self._first :], len(self.contrasts))

    @cached_property
    def endless(self) -> Floats:
        """Signs of the reported coefficients that are infinite, 0 for the others."""
        if self.infinite is None:
            return np.zeros(len(self.labels))
        direction = self.contrasts @ np.atleast_2d(self.infinite)
        noise = 1e-9 * float(np.abs(self.infinite).max(initial=0.0))
        signs = np.where(np.abs(direction) > noise, np.sign(direction), 0.0)
        return np.where(self.defined, signs[:, self._first :].ravel(), 0.0)

    @cached_property
    def coef(self) -> Floats:
        user = np.atleast_2d(self.coordinates.to_user(self.theta))
        coef = (self.contrasts @ user)[:, self._first :].ravel()
        coef = np.where(self.endless == 0, coef, np.copysign(np.inf, self.endless))
        return np.where(self.defined, coef, np.nan)

    @cached_property
    def std_error(self) -> Floats:
        """NaN where the coefficient is not defined, infinite, or chosen by a penalty."""
        if self.sparse_penalty:
            return np.full(len(self.labels), np.nan)
        return self.lengths(self.spread)

    def lengths(self, spread: Floats) -> Floats:
        """The standard errors that belong to a G; NaN where the coefficient is not defined or infinite."""
        return np.where(np.isfinite(self.coef), np.linalg.norm(spread, axis=1), np.nan)

    @cached_property
    def parameters(self) -> float:
        """Degrees of freedom of the model: coefficients, infinite ones too, or tr(H^-1 I) with an L2 penalty."""
        if self.infinite_estimates:
            return float(self.defined.sum())
        if self.penalty in {"l2", "elasticnet"}:
            return float(np.vdot(self.root, self.information @ self.root))
        return float(len(self.active))

    @property
    def too_many(self) -> bool:
        """Are there so many coefficients that standard errors are computed only on request?"""
        return self.penalty == "l2" and self.theta.size > MOST_TESTED and not self.solution.at.hessian.size

    @property
    def loglik(self) -> float:
        return self.loglik_constant - self.solution.loss

    @property
    def deviance(self) -> float:
        return self.deviance_of(self.solution)

    def deviance_of(self, solution: Solution) -> float:
        return 2.0 * (solution.loss - self.saturated_loss)

    @property
    def observations(self) -> int:
        """What degrees of freedom are counted from: rows, times K - 1 log-odds."""
        return self.rows * len(self.contrasts)

    def criterion(self, loss: float, parameters: float, price: float = 2.0) -> float:
        """-2 log-likelihood + price x parameters: AIC, or BIC at the price log(rows)."""
        return 2.0 * (loss - self.loglik_constant) + price * parameters

    @property
    def _stale(self) -> bool:
        """Is there an information matrix that belongs to another point, and rows to replace it?"""
        return self.objective is not None and bool(self.solution.at.hessian.size) and not self.solution.exact

    @property
    def _first(self) -> int:
        return 0 if self.coordinates.intercept else 1


def fitted_from(fit: SmoothFit, design: Design, reference: int) -> Fitted:
    """All that summaries, intervals and tests are made of."""
    problem, objective, free, solution = fit.problem, fit.objective, fit.free, fit.solution
    if objective.softmax and problem.penalty.name == "none" and reference != 0:
        # The same solution against another class: likelihood, information and Firth's prior do not change.
        free = free.copy()
        free[[0, reference]] = free[[reference, 0]]
        solution = replace(solution, theta=solution.theta - solution.theta[reference])
    separation = fit.separation
    return Fitted(
        objective=objective,
        coordinates=objective.coordinates,
        solution=solution,
        free=free,
        aliased=fit.aliased,
        ridge=fit.ridge,
        names=design.names_out,
        terms=terms_of(design),
        classes=problem.classes,
        reference=reference,
        penalty=problem.bias_reduction or problem.penalty.name,
        infinite=separation.infinite.astype(float) if separation is not None and separation.separated else None,
        lasso=problem.penalty.lasso,
        **_likelihoods(fit),
    )


def is_loose(fit: SmoothFit) -> bool:
    """Has ``tol`` ended a penalised fit early, of no more coefficients than standard errors are computed for?"""
    found = fit.solution
    early = found.converged and found.gap > PENALISED_CLOSE * found.at.weight
    return fit.problem.penalty.name == "l2" and early and found.theta.size <= MOST_TESTED


def at_minimum(fit: SmoothFit) -> SmoothFit:
    """The fit, led to its minimum where it is loose. Cost: two or three Newton steps."""
    if not is_loose(fit):
        return fit
    return replace(fit, solution=newton(fit.objective, fit.theta, ridge=fit.ridge, free=fit.free))


def terms_of(design: Design) -> list[tuple[str, list[int]]]:
    """The columns of the user, and which columns of the model each has become."""
    ends = np.cumsum([column.n_out for column in design.columns], dtype=int).tolist()
    return [
        (column.name, list(range(end - column.n_out, end)))
        for column, end in zip(design.columns, ends, strict=True)
        if column.n_out
    ]


def is_wide(coordinates: Coordinates) -> bool:
    """Do the coordinates hold a basis (p x r) of the space of few rows, too large to be saved?"""
    if coordinates.turned is None:
        return False
    p, r = coordinates.turned.shape
    return bool(p * r > LARGE and p > 2 * r)


def _likelihoods(fit: SmoothFit) -> dict[str, Any]:
    """What the labels alone determine: rows, weights, and the losses of the null and of the saturated model."""
    objective = fit.objective
    rows, weights, offset, saturated, constant = fit.solution.at.rows, fit.class_weights, fit.offset, 0.0, 0.0
    if weights is None:
        rows, weights = 0, np.zeros(len(objective.classes))
        for block in objective.rows.blocks():
            rows += len(block) if block.weight is None else int(np.count_nonzero(block.weight))
            offset |= block.offset is not None
            weights += class_weights(objective.classes, block)
            if block.share is None:
                continue
            share, n = block.share, np.ones(len(block)) if block.weight is None else block.weight
            saturated -= float(n @ (xlogy(share, share) + xlogy(1.0 - share, 1.0 - share)))
            y = n * share
            constant += float((gammaln(n + 1) - gammaln(y + 1) - gammaln(n - y + 1)).sum())
    weight = float(weights.sum())
    losses = {"null_loss": _null_loss(objective, weights, offset), "saturated_loss": saturated}
    return {"rows": rows, "weight": weight, "loglik_constant": constant, **losses}


def _null_loss(objective: Objective, weights: Floats, offset: bool) -> float:
    """Minus the log-likelihood of the intercept alone, or of nothing where there is none."""
    if not offset:
        if objective.coordinates.intercept:
            return float(-xlogy(weights, weights / weights.sum()).sum())
        return float(weights.sum() * np.log(len(weights)))
    nothing = np.zeros(objective.shape)
    if not objective.coordinates.intercept:
        return objective.at(nothing, depth=LOSS).loss
    free = np.zeros(objective.shape, bool)
    free[0] = True
    return newton(objective, nothing, free=free).loss


def _is_scan(rows: Passes) -> bool:
    """Are the classes not known before the rows are read?"""
    return (rows.inner if isinstance(rows, Reweighted) else rows).shape.classes is None
