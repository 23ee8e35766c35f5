"""Logistic regression."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from discrim.engines import KeptPasses, RowPasses
from discrim.errors import ParameterError, warn
from discrim.families.logistic.fit import UNBIASED, BiasReduction, PenaltyTerms, SmoothFit, separation_of
from discrim.families.logistic.recipe import LogisticRecipe, Named, named_separation, without_weightless, written
from discrim.families.logistic.separation import Separation
from discrim.families.recipe import Passes, Solved
from discrim.families.rule import Rule, as_one
from discrim.inference.fitted import Fitted, at_minimum, fitted_from, is_loose, is_wide, terms_of
from discrim.models.logistic.callbacks import CallbackSupport, reported
from discrim.models.logistic.inference import LogisticInference
from discrim.models.logistic.training import (
    NoColumns,
    Training,
    offset_of_rows,
    select_columns,
    with_named_offset,
    with_offset,
)
from discrim.models.parameters import Check, boolean, either, integer, number, one_of, positive, seed
from discrim.models.registry import Entry, Size, Work, any_numbers, enter
from discrim.models.scoring import also_of_parts
from discrim.models.shell import SparseCoefficients
from discrim.sources import Attached, Design, Rows, Scan
from discrim.store.fields import Fields, Optional, Outgoing
from discrim.store.kinds import Of

# Names of scikit-learn's solvers; all answers come from the same few routes here.
SMOOTH_ONLY = ("lbfgs", "newton-cg", "newton-cholesky", "sag")
SOLVERS = ("auto", *SMOOTH_ONLY, "liblinear", "saga", "newton", "quasi-newton")
# Coefficients of which a copy has the inference, even where that takes some more steps.
SMALL = 300
# "deprecated" is scikit-learn's default of ``penalty``: it is accepted, but not a choice to offer.
PENALTIES = ("l1", "l2", "elasticnet")
CONSTRAINTS: dict[str, Check] = {
    "penalty": (one_of("deprecated", *PENALTIES, None)[0], one_of(*PENALTIES, None)[1]),
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
    "bias_reduction": one_of(None, "firth", "flic", "flac"),
    "aliased": one_of("drop", "minimum-norm"),
}


@dataclass(eq=False, repr=False)
class LogisticRegression(CallbackSupport, LogisticInference, SparseCoefficients):
    """Log-odds that are linear in the columns, by maximum likelihood with or without a penalty.

    **Model.** P(class k | x) is proportional to exp(alpha_k + beta_k'x); for two classes
    P(second | x) = 1 / (1 + exp(-alpha - beta'x)).

    **Statistic.** Loss, gradient and curvature at theta = (alpha, beta), summed over the rows (``Likelihood``): one
    read of the data each time.

    **Estimate.** The minimum of sum_i w_i loss_i + ((1 - l1_ratio) |beta|_2^2 / 2 + l1_ratio |beta|_1) / C. The
    intercept is not penalised. Columns are centred and scaled inside, so that their units do not decide whether and
    how fast it converges.

    **Rule.** The largest alpha_k + beta_k'x.

    Cost: the cheapest way of the table in ``families.logistic.fit.Work``. With few columns that are three to six reads
    of X with n p^2 multiplications each; with many columns or classes fifteen to sixty with 2 n p K; n^2 p + n^3 where
    rows are much fewer than columns.

    Parameters
    ----------
    penalty : {'l1', 'l2', 'elasticnet', None}
        Use ``C`` and ``l1_ratio`` instead: scikit-learn no longer recommends ``penalty`` and warns of it, as we do.
    C : float, inverse strength of the penalty; ``np.inf`` for none
    l1_ratio : float from 0 (L2) to 1 (L1)
    dual, n_jobs, verbose, random_state : accepted for scikit-learn's sake, without effect on the answer
    tol : float
        As in scikit-learn, the largest slope of the mean objective that counts as none, where each further digit costs
        as much as the last: ``solver_`` other than 'newton', with a penalty. Newton's method goes on to all digits in
        any case, its last step being the cheapest, and so does every way with ``tol=0``. ``summary`` and the like are
        those of the minimum itself up to 3,000 coefficients.
    fit_intercept : bool
    intercept_scaling : float, used with solver='liblinear' only, which penalises the intercept
    class_weight : dict of class to weight, 'balanced' or None
    solver : {'auto', 'newton', 'quasi-newton'} or one of scikit-learn's names
        'auto' chooses by the shape of the problem, and so do scikit-learn's names except 'newton-cholesky', which is
        'newton'; 'liblinear' penalises the intercept too. ``solver_`` shows what was used.
    max_iter : int, the most steps
    warm_start : bool, begin at the coefficients of the last fit
    reference : label
        The class that ``summary`` and the like compare the others with; by default the first.
    inference : {'auto', True, False}
        True goes on to all digits and prepares standard errors during ``fit``, 'auto' when they are first asked for (at
        once without a penalty), False does not keep the rows at hand for it.
    bias_reduction : {None, 'firth', 'flic', 'flac'}
        Firth's penalised likelihood, finite also where the classes are separated; needs C=np.inf. It draws
        probabilities towards one half. 'flic' (its slopes with the intercept of maximum likelihood) and 'flac' (two
        classes; an added covariate keeps the correction apart from the rows) give them the observed mean again.
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

    coef_: Any = field(init=False)
    intercept_: NDArray[Any] = field(init=False)
    n_iter_: NDArray[np.int32] = field(init=False)
    solver_: str = field(init=False)
    # The fit with its rows (None where they are not kept), its arguments, and what has been asked of it since.
    _solved: Solved = field(init=False)
    _training: Training | None = field(init=False)
    _separation: Separation | None = field(init=False)
    _known_fit: Fitted | None = field(init=False)

    stored_state: ClassVar[Fields] = {
        "_separation": Optional(Of(Separation)), "_known_fit": Optional(Of(Fitted)),
    }  # fmt: skip

    # scikit-learn's callbacks see the steps of this fit.
    _reports_steps: ClassVar[bool] = True
    _constraints: ClassVar[dict[str, Check]] = CONSTRAINTS

    penalty: Any = "deprecated"
    _: KW_ONLY
    C: float = 1.0
    l1_ratio: float | None = 0.0
    dual: bool = False
    tol: float = 1e-4
    fit_intercept: bool = True
    intercept_scaling: float = 1
    class_weight: Any = None
    random_state: Any = None
    solver: str = "auto"
    max_iter: int = 100
    verbose: int = 0
    warm_start: bool = False
    n_jobs: int | None = None
    reference: Any = None
    inference: bool | Literal["auto"] = "auto"
    bias_reduction: BiasReduction | None = None
    aliased: Literal["drop", "minimum-norm"] = "drop"

    def recipe(self) -> LogisticRecipe:
        """The model that these parameters describe."""
        strength, l1_ratio = self._strength()
        self._check_solver(strength, l1_ratio)
        penalty = self._terms_for(strength, l1_ratio)
        if self.bias_reduction is not None and penalty.name != "none":
            raise ParameterError(
                f"bias_reduction='{self.bias_reduction}' is itself a penalty and does not go with another one. Set "
                "C=np.inf."
            )
        if self.bias_reduction in UNBIASED and not self.fit_intercept:
            raise ParameterError(
                f"bias_reduction='{self.bias_reduction}' makes probabilities unbiased by the intercept. Set "
                "fit_intercept=True, or use 'firth'."
            )
        return self._recipe_with(penalty)

    def _terms_for(self, strength: float, l1_ratio: float) -> PenaltyTerms:
        """The penalty of this ``strength`` = 1 / C, with the part of the intercept that the solver's name asks for."""
        lasso, ridge = strength * l1_ratio, strength * (1.0 - l1_ratio)
        if self.solver == "liblinear" and self.fit_intercept:
            # liblinear treats the intercept as one more coefficient, of a column that holds intercept_scaling.
            held = float(self.intercept_scaling)
            return PenaltyTerms(lasso, ridge, ridge / held**2, lasso / held)
        return PenaltyTerms(lasso, ridge)

    def _strength(self) -> tuple[float, float]:
        """1 / C and the share of L1, as the parameters say it in either way."""
        penalty, l1_ratio = self.penalty, self.l1_ratio
        if l1_ratio is None:
            if penalty == "elasticnet":
                raise ParameterError("l1_ratio must be specified when penalty is elasticnet.")
            if penalty == "deprecated":
                warn("'l1_ratio=None' was deprecated in version 1.8. Use 0<=l1_ratio<=1 instead.", FutureWarning)
            l1_ratio = 0.0
        if penalty != "deprecated":
            self._warn_of_penalty()
            l1_ratio = {"l1": 1.0, "l2": 0.0, "elasticnet": l1_ratio, None: 0.0}[penalty]
        strength = 0.0 if penalty is None or np.isinf(self.C) else 1.0 / float(self.C)
        return strength, float(l1_ratio)

    def _warn_of_penalty(self) -> None:
        warn(
            "'penalty' was deprecated in version 1.8 of scikit-learn. Leave it at its default and use 'l1_ratio' or "
            "'C': l1_ratio=0 for penalty='l2', l1_ratio=1 for penalty='l1', any l1_ratio for penalty='elasticnet', and "
            "C=np.inf for penalty=None.",
            FutureWarning,
        )
        given = self.l1_ratio
        if (self.penalty == "l2" and given != 0) or (self.penalty == "l1" and given != 1):
            warn(
                f"Inconsistent values: penalty={self.penalty} with l1_ratio={given}. The l1_ratio parameter is only "
                f"used when penalty is 'elasticnet'. Got (penalty={self.penalty}), which is taken. Use l1_ratio alone."
            )
        if self.penalty is None and (self.C != 1.0 or given not in {0, None}):
            warn("Setting penalty=None will ignore the C and l1_ratio parameters")

    def _check_solver(self, strength: float, l1_ratio: float) -> None:
        """scikit-learn's limits of the solvers that it names; 'auto' has none."""
        solver, lasso = self.solver, strength > 0 and l1_ratio > 0
        if solver in {*SMOOTH_ONLY, "newton", "quasi-newton"} and lasso:
            name = "l1" if l1_ratio == 1 else "elasticnet"
            raise ParameterError(
                f"Solver {solver} supports only 'l2' or None penalties, got {name} penalty. Use solver='auto'."
            )
        if solver != "liblinear" and self.dual:
            raise ParameterError(f"Solver {solver} supports only dual=False, got dual={self.dual}")
        if solver == "liblinear":
            if 0 < l1_ratio < 1 and lasso:
                raise ParameterError("Only 'saga' solver supports elasticnet penalty, got solver=liblinear.")
            if strength == 0:
                raise ParameterError("C=np.inf as well as penalty=None is not supported for the liblinear solver")

    def _recipe_with(self, penalty: PenaltyTerms) -> LogisticRecipe:
        tol = 0.0 if self.inference is True else self.tol
        solving = (self.fit_intercept, self.max_iter, tol, self.solver)
        return LogisticRecipe(penalty, *solving, self.bias_reduction, self.aliased, class_weight=self.class_weight)

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        trials: Any = None,
        checkpoint: Any = None,
    ) -> Self:
        """Learn from rows X with labels y, or from a ``scan``.

        ``offset`` is a known part of the log-odds (two classes): a number, one for each row, or the name of a column of
        the scan. With ``trials`` rows are groups: y holds the whole numbers of successes out of so many (for shares of
        successes pass y * trials), and the classes are 0 (failure) and 1 (success); ``class_weight`` then counts
        failures and successes.
        """
        recipe: LogisticRecipe = self.checked_recipe()  # type: ignore[assignment]
        if self.n_jobs is not None:
            warn("'n_jobs' has no effect: all cores are used. Leave it out.", FutureWarning)
        if self.warm_start and hasattr(self, "coef_"):
            user = as_one(self.coef_, self.intercept_)
            recipe = replace(recipe, start=user[0] if len(user) == 1 else user)
        given = Training(X, y, sample_weight, offset, trials)
        rows = open_training(self._read, given)
        self._check_reference(rows.classes)
        passes = RowPasses(rows) if checkpoint is None else KeptPasses(rows, "dense", checkpoint, self, recipe.start)
        with passes.fitting():
            columns = self.columns_of(X, rows)
            solved = self._solved_from(recipe, passes, columns, given)
        return self._learn(solved, columns, given)

    def _solved_from(self, recipe: LogisticRecipe, rows: Passes, columns: Mapping[str, Any], given: Training) -> Solved:
        if not (self._reports_steps and getattr(self, "_skl_callbacks", None)):
            return recipe.fit(rows.shape, rows)
        with reported(self, rows, columns, given, penalised=recipe.penalty.name != "none") as steps:
            solved = replace(recipe, watch=steps.watch).fit(rows.shape, rows)
            steps.ended(solved)
        return solved

    def _learn(self, solved: Solved, columns: Mapping[str, Any], given: Training, **more: Any) -> Self:
        """Take over a fit, in one step; ``more`` are further attributes."""
        fit: SmoothFit = solved.details
        keeps, shown, known = self.inference is not False, solved.attributes, None
        self._check_reference(shown["classes_"])
        if self.inference is True or (self.inference == "auto" and fit.problem.penalty.name == "none"):
            known = fitted_from(fit, columns["_design"], self._reference_index(shown["classes_"]))
        learned = {
            **columns,
            **shown,
            **more,
            "_solved": solved if keeps else replace(solved, details=None),
            "_training": given if keeps else None,
            "_rule": solved.rule,
            "_separation": fit.separation,
            "_known_fit": known,
            "_loo": None,
        }
        return self._take_over(learned, solved.remarks)

    def solution(self) -> Solved:
        """What the fit came to, or coefficients that were set since."""
        self._check_solved()
        known: Solved | None = self.__dict__.get("_solved")
        return Solved(self._rule, None, {}) if known is None else replace(known, rule=self._rule)

    @also_of_parts
    def decision_function(self, X: Any, offset: Any = None) -> NDArray[Any]:
        """Log-odds of the second class, n; for more classes alpha_k + beta_k'x, n x K."""
        scores = super().decision_function(X)
        return scores if offset is None else with_offset(scores, X, offset)

    @also_of_parts
    def predict(self, X: Any, offset: Any = None) -> NDArray[Any]:
        """The class with the largest score."""
        if offset is None:
            return super().predict(X)
        return np.asarray(self.classes_.take((self.decision_function(X, offset) > 0).astype(np.intp)))

    @also_of_parts
    def predict_proba(self, X: Any, offset: Any = None) -> NDArray[Any]:
        """Probabilities of the classes, n x K, columns as ``classes_``."""
        if offset is None:
            return super().predict_proba(X)
        return np.asarray(np.exp(self.predict_log_proba(X, offset)))

    @also_of_parts
    def predict_log_proba(self, X: Any, offset: Any = None) -> NDArray[Any]:
        """Logarithms of the probabilities, exact where these underflow."""
        if offset is None:
            return super().predict_log_proba(X)
        eta = self.decision_function(X, offset)
        return np.asarray(-np.logaddexp(0.0, np.column_stack([eta, -eta])))

    @property
    def separation_(self) -> Named:
        """Whether the classes are separated: ``separated``, ``complete``, ``columns``, ``direction``, ``classes``."""
        check_is_fitted(self, "coef_")
        fit, found = self._kept_fit, self.__dict__.get("_separation")
        if found is None and fit is not None and (fit.problem.firth or fit.problem.penalty.name != "none"):
            found = without_weightless(separation_of(fit), fit.empty, intercept=self.fit_intercept)
            self.__dict__["_separation"] = found
        return named_separation(found, ["(Intercept)", *self._names], self.classes_)

    def renamed(self, names: list[str]) -> Self:
        """A copy whose columns have these names."""
        other: Self = super().renamed(names)
        fitted, design = self._fitted, other.columns_
        if fitted is not None:
            other.__dict__["_known_fit"] = replace(fitted, names=design.names_out, terms=terms_of(design))
        return other

    def regrouped(
        self, names: list[str], terms: list[tuple[str, list[int]]], margins: Mapping[str, Sequence[str]]
    ) -> Self:
        """A copy whose columns have these names, and whose ``drop1``, ``step`` and the like go by terms of them.

        ``margins`` are the terms that contain a term, as ``a:b`` contains ``a``; it is not left out while they are
        there. The rows of the fit are an array, or a scan with these names.
        """
        other = self.renamed(names) if names else copy(self)
        fitted = other.fitted_model() if names else self.fitted_model()
        other.__dict__.update(_grouping=(dict(terms), margins), _training=self._training)
        other.__dict__["_known_fit"] = replace(fitted, terms=terms, margins=margins)
        return other

    @property
    def _kept_fit(self) -> SmoothFit | None:
        """The fit, while its rows are at hand."""
        solved: Solved | None = self.__dict__.get("_solved")
        return None if solved is None else solved.details

    @property
    def _fitted(self) -> Fitted | None:
        """What inference needs, made when it is first asked for."""
        known: Fitted | None = self.__dict__.get("_known_fit")
        if known is None and self._kept_fit is not None:
            known = fitted_from(at_minimum(self._kept_fit), self._design, self._reference_index(self.classes_))
            self.__dict__["_known_fit"] = known
        return known

    def __getstate__(self) -> dict[str, Any]:
        """Without the rows of the last fit, and a basis as large as they are: another process has no use for them."""
        fit = self._kept_fit
        wide = fit is not None and is_wide(fit.objective.coordinates)
        if fit is not None and not wide and (fit.theta.size <= SMALL or not is_loose(fit)):
            _ = self._fitted
        state = dict(super().__getstate__())
        if fit is not None and not wide and state["_known_fit"] is None:
            state["_known_fit"] = fitted_from(fit, self._design, self._reference_index(self.classes_))
        if "_solved" in state:
            state["_solved"] = replace(state["_solved"], details=None)
        for name in ("_training", "_loo", *(["_known_fit"] if wide else [])):
            state[name] = None
        return state

    def write_learned(self, out: Outgoing, at: str) -> dict[str, Any]:
        """As a copy has it, which is without the rows and a basis of their space; the summary is the one shown here."""
        fit = self._kept_fit
        if fit is not None and not is_wide(fit.objective.coordinates):
            _ = self._fitted
        copied = copy(self)
        # A model of averages over the folds has neither.
        fitted = copied.__dict__.setdefault("_known_fit", None)
        copied.__dict__.setdefault("_separation", None)
        if fitted is not None and fitted.coordinates.turned is not None:
            copied.__dict__["_known_fit"] = None
        return super(LogisticRegression, copied).write_learned(out, at)

    def restored(self, rule: Rule, attributes: Mapping[str, Any], learned: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG002 - as of every model
        """The solution that such a rule was part of."""
        return {"_rule": rule, "_solved": Solved(rule, None, attributes), "_training": None, "_loo": None}

    def _rows_learned(self) -> tuple[int | None, NDArray[Any] | None]:
        known = self.__dict__.get("_known_fit")
        return None if known is None else known.rows, None

    def _read(self, X: Any, y: Any, sample_weight: Any, *, design: Design | None = None, labelled: bool = True) -> Rows:
        if design is not None and design.n_in == 0:
            # step() may leave the intercept alone: then it does not matter what the rows hold.
            X = select_columns(X, [], [])
        if isinstance(X, NoColumns):
            return X.rows(y, sample_weight)
        return super()._read(X, y, sample_weight, design=design, labelled=labelled)

    def columns_of(self, X: Any, rows: Rows) -> dict[str, Any]:
        """What ``fit`` remembers of the columns of X."""
        if isinstance(X, NoColumns):
            return {"_design": rows.design, "n_features_in_": 0}
        return super().columns_of(X, rows)

    def _check_reference(self, classes: NDArray[Any] | None) -> None:
        if classes is not None and self.reference is not None and self.reference not in classes.tolist():
            raise ParameterError.bad_value("reference", self.reference, f"one of {written(classes.tolist())}")

    def _reference_index(self, classes: NDArray[Any]) -> int:
        return 0 if self.reference is None else classes.tolist().index(self.reference)

    def _refit_on(self, terms: Sequence[str], criterion: str) -> Any:
        """The same model on some columns of the rows that it was fitted on, which ``criterion`` chose."""
        given = self._training
        assert given is not None
        grouping, names = self.__dict__.get("_grouping"), [column.name for column in self._design.columns]
        wanted = list(terms) if grouping is None else [names[j] for term in terms for j in grouping[0][term]]
        X = select_columns(given.X, names, wanted)
        model = self._unfitted().fit(X, given.y, given.sample_weight, offset=given.offset, trials=given.trials)
        if grouping is not None:
            places = iter(range(len(wanted)))
            parts = [(term, [next(places) for _ in grouping[0][term]]) for term in terms]
            margins = {term: [name for name in grouping[1].get(term, ()) if name in terms] for term in terms}
            model = model.regrouped(wanted, parts, margins)
        model.__dict__["_known_fit"] = replace(model.fitted_model(), selected=criterion)
        return model

    def _unfitted(self) -> Any:
        """The model that ``step`` fits on fewer terms."""
        return clone(self)


def open_training(read: Callable[..., Rows], given: Training) -> Rows:
    """The rows that ``fit`` was given, as ``read`` opens them, with their offsets or trials; checked."""
    y, weight, share = given.y, given.sample_weight, None
    if given.trials is not None:
        share, weight = given.groups()
        y = np.ones(len(share), int)
    by_name = isinstance(given.offset, str)
    if given.offset is not None and isinstance(given.X, Scan) and not by_name:
        raise ParameterError("With a scan, `offset` is the name of one of its columns.")
    rows = read(with_named_offset(given.X, given.offset) if by_name else given.X, y, weight)
    offset = None if given.offset is None or by_name else offset_of_rows(given.offset, rows)
    if share is not None:
        return Attached(rows, np.array([0, 1]), offset, share)
    if offset is None or rows.classes is None:
        return rows
    if len(rows.classes) > 2:
        raise ParameterError(f"An offset is for two classes; y has {len(rows.classes)}.")
    return Attached(rows, rows.classes, offset)


def _work(size: Size) -> Work:
    functions = size.classes if size.classes > 2 else 1
    if not size.dense:
        fit = 2e-3 + 1e-7 * size.stored * functions
        return Work(fit, 2.0 * fit)
    # Of more columns than rows, in the space of the rows. Of many rows of several classes a part is solved first, and
    # passes over all of them follow.
    rate = 1e-8 * (min(max(size.rows / 5000, 1.0), 5.0) if functions > 1 else 1.0)
    fit = 2e-3 + rate * size.rows * size.span * functions
    fit += 5e-11 * size.stored * size.span
    return Work(fit, 3.0 * fit)


enter(Entry("Logistic", LogisticRegression, cost=14, tuning="grid", why_not=any_numbers, words=True, work=_work))
