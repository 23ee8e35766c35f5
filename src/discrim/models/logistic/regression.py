"""Logistic regression."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from discrim.atomic import all_or_nothing
from discrim.engines.overview import look
from discrim.errors import ParameterError, warn
from discrim.inference.fitted import Fitted
from discrim.models.logistic.callbacks import CallbackSupport, Watch, reported
from discrim.models.logistic.fit import Problem, SmoothFit, fit_smooth, fits_row_space, separation_of
from discrim.models.logistic.inference import LogisticInference
from discrim.models.logistic.options import ROUTES, SOLVERS, PenaltyTerms, penalty_terms, positive, stopped_early
from discrim.models.logistic.report import (
    Named,
    fitted_from,
    is_wide,
    named_separation,
    terms_of,
    told_of_weightless,
    warn_of_separation,
)
from discrim.models.logistic.rows import (
    NoColumns,
    Opened,
    Training,
    is_small,
    known_offset,
    open_training,
    select_columns,
    weightless,
    with_offset,
    written,
)
from discrim.models.logistic.rule import fitted_rule, told_coefficients, user_coefficients, written_rule
from discrim.models.logistic.sparse import fit_sparse
from discrim.models.parameters import Check, boolean, check_parameters, either, integer, number, one_of, seed
from discrim.models.registry import Entry, any_numbers, enter
from discrim.models.shell import Classifier
from discrim.parallel import one_blas_thread
from discrim.solvers.separation import Separation
from discrim.sources import Design, Rows
from discrim.typing import Floats

# Rows that tell where the columns lie.
FIRST_LOOK = 20_000


class LogisticRegression(CallbackSupport, LogisticInference, Classifier):
    """Log-odds that are linear in the columns, by maximum likelihood with or without a penalty.

    **Model.** P(class k | x) is proportional to exp(alpha_k + beta_k'x); for two classes
    P(second | x) = 1 / (1 + exp(-alpha - beta'x)).

    **Statistic.** Loss, gradient and curvature at theta = (alpha, beta), summed over the rows (``Likelihood``): one
    read of the data each time.

    **Estimate.** The minimum of sum_i w_i loss_i + ((1 - l1_ratio) |beta|_2^2 / 2 + l1_ratio |beta|_1) / C. The
    intercept is not penalised. Columns are centred and scaled inside, so that their units do not decide whether and
    how fast it converges.

    **Rule.** The largest alpha_k + beta_k'x.

    Cost: unpenalised or L2 with few columns three to four reads of X with n p^2 / 2 multiplications each; with many
    columns or classes ten to thirty reads with 2 n p K; n^2 p where rows are fewer than columns.

    Parameters
    ----------
    penalty : deprecated, as in scikit-learn: 'l1', 'l2', 'elasticnet' or None
    C : float, inverse strength of the penalty; ``np.inf`` for none
    l1_ratio : float from 0 (L2) to 1 (L1)
    dual, n_jobs, verbose, random_state : accepted for scikit-learn's sake, without effect on the answer
    tol : float
        Fits go on until they are exact to about eight digits; a larger ``tol`` does not make them stop sooner. Only
        with more than 2,000 columns it is, as in scikit-learn, the largest slope of the mean loss that counts as none.
    fit_intercept : bool
    intercept_scaling : float, used with solver='liblinear' only, which penalises the intercept
    class_weight : dict of class to weight, 'balanced' or None
    solver : {'auto', 'newton', 'quasi-newton'} or one of scikit-learn's names
        'auto' chooses by the shape of the problem, and so do scikit-learn's names except 'newton-cholesky', which is
        'newton'; 'liblinear' penalises the intercept too. ``solver_`` tells what was used.
    max_iter : int, the most steps
    warm_start : bool, begin at the coefficients of the last fit
    reference : label
        The class that ``summary`` and the like compare the others with; by default the first.
    inference : {'auto', True, False}
        True prepares standard errors during ``fit``, 'auto' when they are first asked for (at once without a penalty),
        False does not keep the rows at hand for it.
    bias_reduction : {None, 'firth'}
        Firth's penalised likelihood, finite also where the classes are separated; needs C=np.inf.
    aliased : {'drop', 'minimum-norm'}
        Without a penalty, columns that others determine get the coefficient 0 (NaN in ``summary``), or all share.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_ : as in scikit-learn
    solver_ : str, the route that was taken
    separation_ : object with ``separated``, ``complete``, ``columns``, ``direction``, ``classes``

    Examples
    --------
    >>> import numpy as np
    >>> from discrim import LogisticRegression, datasets
    >>> X, y = datasets.load_challenger().xy
    >>> model = LogisticRegression(C=np.inf).fit(X, y)
    >>> model.intercept_.round(4), model.coef_.round(4)
    (array([15.0429]), array([[-0.2322]]))
    """

    coef_: Any
    intercept_: NDArray[Any]
    n_iter_: NDArray[np.int32]
    solver_: str
    _separation: Separation | None
    _empty: list[int]
    _fit: SmoothFit
    _problem: Problem
    _training: Training

    # scikit-learn's callbacks see the steps of this fit.
    _reports_steps: ClassVar[bool] = True
    _constraints: ClassVar[dict[str, Check]] = {
        "penalty": one_of("deprecated", "l1", "l2", "elasticnet", None),
        "C": positive(infinite=True),
        "l1_ratio": either(number(0, 1), (lambda v: v is None, "None")),
        "dual": boolean(),
        "tol": number(0),
        "fit_intercept": boolean(),
        "intercept_scaling": positive(),
        "class_weight": either(one_of("balanced", None), (lambda v: isinstance(v, dict), "a dict of class to weight")),
        "random_state": seed(),
        "solver": one_of(*SOLVERS),
        "max_iter": integer(0),
        "verbose": either(boolean(), integer(0)),
        "warm_start": boolean(),
        "n_jobs": either(integer(-1000), (lambda v: v is None, "None")),
        "inference": either(boolean(), one_of("auto")),
        "bias_reduction": one_of(None, "firth"),
        "aliased": one_of("drop", "minimum-norm"),
    }

    def __init__(
        self,
        penalty: Any = "deprecated",
        *,
        C: float = 1.0,
        l1_ratio: float | None = 0.0,
        dual: bool = False,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        random_state: Any = None,
        solver: str = "auto",
        max_iter: int = 100,
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        reference: Any = None,
        inference: bool | Literal["auto"] = "auto",
        bias_reduction: Literal["firth"] | None = None,
        aliased: Literal["drop", "minimum-norm"] = "drop",
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.reference = reference
        self.inference = inference
        self.bias_reduction = bias_reduction
        self.aliased = aliased

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, offset: Any = None, trials: Any = None) -> Self:
        """Learn from rows X with labels y, or from a ``scan``.

        ``offset`` is a known part of the log-odds (two classes): a number, one for each row, or the name of a column of
        the scan. With ``trials`` rows are groups: y holds the whole numbers of successes out of so many (for shares of
        successes pass y * trials), and the classes are 0 (failure) and 1 (success); ``class_weight`` then counts
        failures and successes.
        """
        check_parameters(self, self._constraints)
        penalty = penalty_terms(self)
        self._check_together(penalty)
        if self.n_jobs is not None:
            warn("'n_jobs' has no effect: all cores are used. Leave it out.", FutureWarning)
        before = self._coefficients() if self.warm_start and hasattr(self, "coef_") else None
        for name in ("coef_", "_known_fit", "_fit", "_problem", "_training", "_loo"):
            self.__dict__.pop(name, None)
        given = Training(X, y, sample_weight, offset, trials)
        return self._fit_rows(open_training(self, self.class_weight, given), penalty, before, given)

    def _fit_rows(self, opened: Opened, penalty: PenaltyTerms, before: Floats | None, given: Training) -> Self:
        problem = self._stated(opened.classes, penalty, before)
        if self._reports_steps and getattr(self, "_skl_callbacks", None):
            with reported(self, opened, given, penalised=penalty.name != "none") as watch:
                return self._fit_problem(opened, problem, given, watch)
        return self._fit_problem(opened, problem, given)

    def _fit_problem(self, opened: Opened, problem: Problem, given: Training, watch: Watch | None = None) -> Self:
        penalty = problem.penalty
        # The products of few long rows are left to the threads of the linear algebra library.
        free = is_small(opened.rows) or fits_row_space(opened.rows, problem)
        with nullcontext() if free else one_blas_thread():
            if penalty.lasso:
                view = opened.view or look(opened.rows, FIRST_LOOK)
                fit = fit_sparse(opened.rows, problem, view)
            else:
                fit = fit_smooth(opened.rows, replace(problem, watch=watch) if watch else problem, opened.view)
        self.classes_ = opened.classes
        self._empty = weightless(opened)
        if self._empty:
            fit = replace(fit, separation=told_of_weightless(fit.separation, self._empty, intercept=self.fit_intercept))
        self._learn(fit, problem)
        separated = fit.separation is not None and fit.separation.separated
        if separated or self._empty:
            warn_of_separation(fit, self._empty, self.classes_, self._names)
        if not separated and not fit.solution.converged:
            name = self.solver_ if self.solver == "auto" else self.solver
            warn(stopped_early(name, fit.solution.iterations, self.max_iter), ConvergenceWarning)
        if self.inference is not False:
            self._fit, self._problem, self._training = fit, problem, given
        if self.inference is True or (self.inference == "auto" and penalty.name == "none"):
            _ = self._fitted
        return self

    def decision_function(self, X: Any, offset: Any = None) -> NDArray[Any]:
        """Log-odds of the second class, n; for more classes alpha_k + beta_k'x, n x K."""
        scores = super().decision_function(X)
        return scores if offset is None else with_offset(scores, known_offset(X, offset))

    def predict(self, X: Any, offset: Any = None) -> NDArray[Any]:
        """The class with the largest score."""
        if offset is None:
            return super().predict(X)
        return np.asarray(self.classes_.take((self.decision_function(X, offset) > 0).astype(np.intp)))

    def predict_proba(self, X: Any, offset: Any = None) -> NDArray[Any]:
        """Probabilities of the classes, n x K, columns as ``classes_``."""
        if offset is None:
            return super().predict_proba(X)
        return np.asarray(np.exp(self.predict_log_proba(X, offset)))

    def predict_log_proba(self, X: Any, offset: Any = None) -> NDArray[Any]:
        """Logarithms of the probabilities, exact where these underflow."""
        if offset is None:
            return super().predict_log_proba(X)
        eta = self.decision_function(X, offset)
        return np.asarray(-np.logaddexp(0.0, np.column_stack([eta, -eta])))

    def sparsify(self) -> Self:
        """Keep ``coef_`` as a sparse matrix."""
        from scipy import sparse

        check_is_fitted(self, "coef_")
        self.coef_ = sparse.csr_matrix(self.coef_)
        return self

    def densify(self) -> Self:
        """Keep ``coef_`` as an array."""
        check_is_fitted(self, "coef_")
        if not isinstance(self.coef_, np.ndarray):
            self.coef_ = self.coef_.toarray()
        return self

    @property
    def separation_(self) -> Named:
        """Whether the classes are separated: ``separated``, ``complete``, ``columns``, ``direction``, ``classes``."""
        check_is_fitted(self, "coef_")
        if self._separation is None and "_fit" in self.__dict__ and self._problem.needs_look:
            self._separation = told_of_weightless(separation_of(self._fit), self._empty, intercept=self.fit_intercept)
        return named_separation(self._separation, ["(Intercept)", *self._names], self.classes_)

    def renamed(self, names: list[str]) -> Self:
        """A copy whose columns have these names."""
        other: Self = super().renamed(names)
        fitted, design = self._fitted, other._design
        if fitted is not None:
            other.__dict__["_known_fit"] = replace(fitted, names=design.names_out, terms=terms_of(design))
        return other

    @property
    def _fitted(self) -> Fitted | None:
        """What inference needs, made when it is first asked for."""
        known: Fitted | None = self.__dict__.get("_known_fit")
        if known is None and "_fit" in self.__dict__:
            known = fitted_from(self._fit, self._problem, self._design, self._reference_index())
            self.__dict__["_known_fit"] = known
        return known

    def _check_solved(self) -> Self:
        check_is_fitted(self, "coef_")
        if "_design" not in self.__dict__:
            self.n_features_in_ = int(self.coef_.shape[-1])
            self._design = Design.unnamed(self.n_features_in_, np.float64)
        told = told_coefficients(self.coef_, self.intercept_)
        if not np.array_equal(told, self.__dict__.get("_rule_of", ())):
            # Somebody has written to the coefficients, or has set them without a fit.
            self._rule, self._rule_of = written_rule(told), told
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Without the rows of the last fit, and a basis as large as they are: another process has no use for them."""
        wide = "_fit" in self.__dict__ and is_wide(self._fit.objective.coordinates)
        if "_fit" in self.__dict__ and self.inference is not False and not wide:
            _ = self._fitted
        state = dict(super().__getstate__())
        for name in ("_fit", "_training", "_loo", *(["_known_fit"] if wide else [])):
            state.pop(name, None)
        return state

    def _open(self, X: Any, y: Any, sample_weight: Any, *, reset: bool, labelled: bool = True) -> Rows:
        if not reset and self.n_features_in_ == 0:
            # step() may leave the intercept alone: then it does not matter what the rows hold.
            X = select_columns(X, [], [])
        if not isinstance(X, NoColumns):
            return super()._open(X, y, sample_weight, reset=reset, labelled=labelled)
        rows = X.rows(y, sample_weight)
        if reset:
            self._design, self.n_features_in_ = rows.design, 0
            self.__dict__.pop("feature_names_in_", None)
        return rows

    def _check_together(self, penalty: PenaltyTerms) -> None:
        if self.bias_reduction == "firth" and penalty.name != "none":
            raise ParameterError(
                "bias_reduction='firth' is itself a penalty and does not go with another one. Set C=np.inf."
            )

    def _stated(self, classes: NDArray[Any], penalty: PenaltyTerms, before: Floats | None) -> Problem:
        if self.solver == "liblinear" and len(classes) > 2:
            raise ParameterError(
                "The 'liblinear' solver does not support multiclass classification (n_classes >= 3). Either use "
                "another solver or wrap the estimator in a OneVsRestClassifier to keep applying a one-versus-rest "
                "scheme."
            )
        if self.reference is not None and self.reference not in classes.tolist():
            raise ParameterError.bad_value("reference", self.reference, f"one of {written(classes.tolist())}")
        shape = (self._design.n_out + 1,) if len(classes) == 2 else (len(classes), self._design.n_out + 1)
        return Problem(
            classes,
            penalty,
            self.fit_intercept,
            self.max_iter,
            start=before if before is not None and before.shape == shape else None,
            route=ROUTES.get(self.solver),
            firth=self.bias_reduction == "firth",
            aliased=self.aliased,
            tol=self.tol,
        )

    def _learn(self, fit: SmoothFit, problem: Problem) -> None:
        coordinates = fit.objective.coordinates
        user = user_coefficients(
            fit.theta, coordinates, softmax=problem.softmax, penalised=problem.penalty.name != "none"
        )
        self._rule = fitted_rule(user, fit.theta, coordinates)
        # liblinear knows double precision only.
        told = user if self.solver == "liblinear" else user.astype(self._design.dtype, copy=False)
        self.coef_, self.intercept_, self._rule_of = told[:, 1:].copy(), told[:, 0].copy(), told.astype(float)
        self.n_iter_ = np.array([min(fit.solution.iterations, self.max_iter)], dtype=np.int32)
        self.solver_ = fit.solver
        self._separation = fit.separation

    def _coefficients(self) -> Floats:
        """The last coefficients, intercept first, in the shape of a start."""
        user = told_coefficients(self.coef_, self.intercept_)
        return user[0] if len(user) == 1 else user

    def _reference_index(self) -> int:
        return 0 if self.reference is None else self.classes_.tolist().index(self.reference)

    def _refit_on(self, terms: Sequence[str]) -> Self:
        """The same model on some columns of the rows that it was fitted on."""
        given: Training = self._training
        model: Self = clone(self)
        X = select_columns(given.X, [column.name for column in self._design.columns], list(terms))
        model.fit(X, given.y, given.sample_weight, offset=given.offset, trials=given.trials)
        return model


enter(
    Entry(
        "Logistic",
        LogisticRegression,
        lambda _: LogisticRegression(),
        cost=14,
        tuning="logistic",
        why_not=any_numbers,
        words=True,
    )
)
