"""Logistic regression whose penalty is chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping, process_routing

from discrim.engines import KeptPasses, RowPasses, passes_over
from discrim.errors import ParameterError, name_list, warn
from discrim.families.first_look import look
from discrim.families.logistic.fit import BiasReduction, Problem, check_finite
from discrim.families.logistic.recipe import LogisticRecipe
from discrim.families.recipe import Passes, Selection, Solved
from discrim.families.rule import as_one, written_rule
from discrim.inference.fitted import Fitted
from discrim.models.logistic.cv_grid import PLAIN, GridResult, PenaltyGrid, cross_validated, folds_of, judge_for
from discrim.models.logistic.cv_scan import validated_in_passes
from discrim.models.logistic.regression import CONSTRAINTS, PENALTIES, LogisticRegression, open_training
from discrim.models.logistic.training import Training
from discrim.models.parameters import Check, boolean, either, integer, list_of, none, numbers, one_of, positive
from discrim.models.shell import check_parameters
from discrim.sources import in_memory
from discrim.typing import Floats


@dataclass(eq=False, repr=False, kw_only=True)
class LogisticRegressionCV(LogisticRegression):
    """Logistic regression with the C and l1_ratio that predict left-out rows best.

    **Model, rule.** Those of ``LogisticRegression``.

    **Estimate.** For every fold, C and l1_ratio the penalised fit of the other folds; its score on the fold, the mean
    over rows, or over single trials where rows are groups; then the fit of all rows with the setting of the best mean
    score. Class weights 'balanced' are those of all rows.

    Cost: a path a fold. A fit begins where the last one ended, with its curvature: one to three passes each. Folds run
    side by side.

    Parameters
    ----------
    Cs : int, so many values from 1e-4 to 1e4, evenly on the log scale; or a list of positive numbers
    l1_ratios : list of floats from 0 (L2) to 1 (L1); by default (0,)
    fit_intercept, dual, tol, max_iter, class_weight, intercept_scaling, solver : as in ``LogisticRegression``
    cv : int, splitter or list of (train, test); by default five stratified folds (not stratified with ``trials``)
    penalty : {'l1', 'l2', 'elasticnet'}
        Use ``l1_ratios`` instead: scikit-learn no longer recommends ``penalty`` and warns of it, as we do.
    scoring : str, scorer or None, which is accuracy
        With ``offset`` or ``trials`` not a function of model, X and y, which would not see them.
    n_jobs, verbose, random_state : accepted for scikit-learn's sake, without effect on the answer
    refit : bool
        False takes the average of the folds' coefficients, each with the best setting of its fold; there is no
        inference then.
    use_legacy_attributes : bool, whether attributes have the shapes of scikit-learn before 1.10
    selection : {'min', 'one-se'}
        With ``refit``: the best mean score, or the smallest C whose mean score is within a standard error of it.
    reference, inference : as in ``LogisticRegression``, for the fit of all rows

    Attributes
    ----------
    classes_, coef_, intercept_, solver_, separation_ : of the fit of all rows
    C_, l1_ratio_ : the chosen ones; the legacy shape repeats them for every class
    Cs_, l1_ratios_ : arrays of those that were tried
    scores_ : folds x l1_ratios x Cs; legacy: a dict of classes to folds x Cs (x l1_ratios)
    coefs_paths_ : folds x l1_ratios x Cs x K x (p + 1), the intercept last; legacy: a dict like ``scores_``
    n_iter_ : like ``scores_``, steps of each fit; legacy: with a leading axis of length one

    Examples
    --------
    >>> from discrim import LogisticRegressionCV, datasets
    >>> X, y = datasets.load_iris().xy
    >>> model = LogisticRegressionCV(l1_ratios=(0,), scoring="neg_log_loss", use_legacy_attributes=False)
    >>> round(model.fit(X, y).C_, 2), model.scores_.shape
    (166.81, (5, 1, 10))
    """

    C_: Any = field(init=False)
    l1_ratio_: Any = field(init=False)
    Cs_: Floats = field(init=False)
    l1_ratios_: NDArray[Any] = field(init=False)
    coefs_paths_: Any = field(init=False)
    scores_: Any = field(init=False)
    n_iter_: NDArray[Any] = field(init=False)

    # scikit-learn's way to say that the model itself makes no use of the weights that it hands to the scorer.
    __metadata_request__score: ClassVar[dict[str, Any]] = {"sample_weight": UNUSED}

    _reports_steps = False
    _constraints: ClassVar[dict[str, Check]] = {
        **CONSTRAINTS,
        "C": none(),
        "Cs": either(
            integer(1), (list_of(positive(infinite=True))[0], "a list of positive numbers (np.inf for no penalty)")
        ),
        "l1_ratios": (either(numbers(0, 1), one_of("warn", None))[0], "a list of numbers from 0 to 1"),
        "penalty": (one_of("deprecated", *PENALTIES)[0], one_of(*PENALTIES)[1]),
        "refit": boolean(),
        "use_legacy_attributes": (either(boolean(), one_of("warn"))[0], "True or False"),
        "selection": one_of("min", "one-se"),
    }

    # Parameters of the plain model that this one does not take.
    C: Any = field(init=False, default=None)
    l1_ratio: Any = field(init=False, default=None)
    warm_start: bool = field(init=False, default=False)
    bias_reduction: BiasReduction | None = field(init=False, default=None)
    aliased: Literal["drop", "minimum-norm"] = field(init=False, default="drop")

    Cs: Any = 10
    l1_ratios: Any = "warn"
    cv: Any = None
    penalty: Any = "deprecated"
    scoring: Any = "warn"
    refit: bool = True
    use_legacy_attributes: Any = "warn"
    selection: Selection = "min"

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        trials: Any = None,
        checkpoint: Any = None,
        **params: Any,
    ) -> Self:
        """Learn from rows X with labels y, or from a ``scan``, which is read into memory up to 67 million values.

        With more, folds are a hash of the row number, ``cv`` is a number of them, and ``scoring`` is 'accuracy' or
        'neg_log_loss'. Every fold and C take one to three passes over the rows, and a fit of files that was killed goes
        on from its ``checkpoint``, the path of a file.

        ``offset`` and ``trials`` as in ``LogisticRegression.fit``. Left-out rows are predicted with their offset; of
        groups every trial is scored, so that the answer is that of a table with a row for each trial, if the folds
        keep groups together. Groups are not stratified: a number of folds means as many stretches of the table, and a
        splitter sees the successes as y.

        ``params`` go to the splitter and the scorer, where scikit-learn's metadata routing is enabled.
        """
        check_parameters(self, self._constraints)
        _refuse_without_routing(self, "fit", params)
        grid, legacy, scoring = self._penalty_grid(), _wants_legacy(self), _wanted_scoring(self)
        given = Training(X, y, sample_weight, offset, trials)
        opened = open_training(self._read, given)
        to_split, to_score = self._routed(sample_weight, params)
        recipe = self._recipe_with(grid.terms[0][0])
        passes = RowPasses(opened) if checkpoint is None else KeptPasses(opened, "dense", checkpoint, self)
        if passes.large:
            with passes.fitting():
                columns = self.columns_of(X, opened)
                rows, problem, view = recipe.opened(passes)
                assert view is not None
                check_finite(rows, view)
                self._check_reference(problem.classes)
                result = validated_in_passes(passes, rows, recipe, problem.classes, grid, self.cv, scoring)
                return self._chosen_of(result, (recipe, problem), rows, columns, given, legacy=legacy)
        if isinstance(passes, KeptPasses):
            passes.not_needed()
        columns = self.columns_of(X, opened)
        whole = opened.whole if opened.whole is not None else in_memory(opened)
        rows, problem, _ = recipe.opened(passes_over(whole, opened.design))
        self._check_reference(problem.classes)
        block = rows.whole
        assert block is not None
        check_finite(rows, look(rows, len(block)))
        share = None
        if trials is not None:
            # Class weights are for the fits alone: the scores count trials.
            share, to_score["sample_weight"] = replace(given, sample_weight=to_score.get("sample_weight")).groups()
        judge = judge_for(scoring if scoring in PLAIN else self._get_scorer(), block, share, to_score)
        folds = folds_of(self.cv, block, None if trials is None else y, to_split)
        result = cross_validated(block, problem, grid, folds, judge)
        return self._chosen_of(result, (recipe, problem), rows, columns, given, legacy=legacy)

    def _chosen_of(
        self,
        result: GridResult,
        known: tuple[LogisticRecipe, Problem],
        rows: Passes,
        columns: Mapping[str, Any],
        given: Training,
        *,
        legacy: bool,
    ) -> Self:
        """The fit of all rows with the best setting, or the average over the folds."""
        (recipe, problem), grid = known, result.grid
        _warn_of_folds(result.converged, self.max_iter)
        if not self.refit:
            return self._average(result, columns, problem.classes, legacy=legacy)
        r, c = result.chosen(self.selection)
        chosen = float(grid.Cs[c]), float(grid.l1_ratios[r])
        setting = chosen[0], None if grid.given is None else grid.given[r]
        more = {"_setting": chosen, **result.attributes(problem.classes, setting, legacy=legacy)}
        # The rows have their class weights already.
        refit = replace(recipe, penalty=grid.terms[r][c], start=result.start(r, c), class_weight=None)
        return self._learn(self._solved_from(refit, rows, columns, given), columns, given, **more)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, **score_params: Any) -> float:
        """The chosen ``scoring`` of predictions for X."""
        _refuse_without_routing(self, "score", score_params)
        if sample_weight is not None:
            score_params["sample_weight"] = sample_weight
        if get_config()["enable_metadata_routing"]:
            score_params = process_routing(self, "score", **score_params).scorer.score
        return float(self._get_scorer()(self, X, y, **score_params))

    def get_metadata_routing(self) -> MetadataRouter:
        """Which parameters of ``fit`` and ``score`` go to the splitter and to the scorer."""
        to_scorer = MethodMapping().add(caller="score", callee="score").add(caller="fit", callee="score")
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
            .add(scorer=self._get_scorer(), method_mapping=to_scorer)
        )

    def _penalty_grid(self) -> PenaltyGrid:
        """All penalties that are tried, checked against a named solver."""
        given, l1_ratios = _l1_ratios(self)
        Cs = np.logspace(-4, 4, self.Cs) if np.ndim(self.Cs) == 0 else np.asarray(self.Cs, dtype=float)
        for l1_ratio in l1_ratios:
            for C in Cs:
                self._check_solver(0.0 if np.isinf(C) else 1.0, float(l1_ratio))
        terms = tuple(tuple(self._terms_for(1.0 / C, l1_ratio) for C in Cs.tolist()) for l1_ratio in l1_ratios.tolist())
        return PenaltyGrid(Cs, l1_ratios, given, terms)

    def _get_scorer(self) -> Any:
        from sklearn.metrics import get_scorer

        default = self.scoring is None or (isinstance(self.scoring, str) and self.scoring == "warn")
        try:
            return get_scorer("accuracy" if default else self.scoring)
        except ValueError as error:
            expected = "a callable, None or one of the names that sklearn.metrics.get_scorer_names() gives"
            raise ParameterError.bad_value("scoring", self.scoring, expected) from error

    def _routed(self, sample_weight: Any, params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """What the splitter and the scorer get."""
        if not get_config()["enable_metadata_routing"]:
            return {}, {} if sample_weight is None else {"sample_weight": sample_weight}
        routed = process_routing(self, "fit", sample_weight=sample_weight, **params)
        return routed.splitter.split, routed.scorer.score

    def _average(self, result: GridResult, columns: Mapping[str, Any], classes: NDArray[Any], *, legacy: bool) -> Self:
        """The mean of the folds' best coefficients; of their C and l1_ratio too."""
        theta, C, l1_ratio = result.averaged()
        rule = written_rule(theta)
        learned = {
            **columns,
            "classes_": classes,
            "coef_": theta[:, 1:],
            "intercept_": theta[:, 0],
            "solver_": "mean",
            "_solved": Solved(rule, None, {}),
            "_rule": rule,
            "_rule_of": as_one(theta[:, 1:], theta[:, 0]),
            "_separation": None,
            **result.attributes(classes, (C, l1_ratio), legacy=legacy),
        }
        return self._take_over(learned)

    def fitted_model(self) -> Fitted:
        if not self.refit:
            raise ParameterError(
                "With refit=False the coefficients are averages over the folds, for which there is no inference. "
                "Set refit=True."
            )
        return super().fitted_model()

    def _unfitted(self) -> Any:
        """A plain model with the chosen penalty."""
        shared = {name: value for name, value in self.get_params().items() if name in LogisticRegression().get_params()}
        chosen = {"C": self._setting[0], "l1_ratio": self._setting[1], "penalty": "deprecated"}
        return LogisticRegression(**{**shared, **chosen})


def _warn_of_folds(converged: NDArray[np.bool_], most: int) -> None:
    failed = int((~converged).sum())
    if failed:
        warn(
            f"{failed} of the {converged.size} fits of folds failed to converge. Increase the number of iterations: "
            f"max_iter is {most}.",
            ConvergenceWarning,
        )


def _refuse_without_routing(model: Any, method: str, params: dict[str, Any]) -> None:
    if params and not get_config()["enable_metadata_routing"]:
        raise ParameterError(
            f"{type(model).__name__}.{method} got {name_list(params)}. Passing this on to the splitter and the scorer "
            "is only supported if enable_metadata_routing=True, see sklearn.set_config."
        )


def _l1_ratios(model: Any) -> tuple[Any, Floats]:
    """As they were given, and as they are used: the deprecated ``penalty`` overrules them."""
    given, penalty = model.l1_ratios, model.penalty
    if isinstance(given, str):
        given = None
        _warn_of_future(
            "The default value for l1_ratios will change from None to (0.0,) in version 1.10 of scikit-learn. Set it, "
            "for example l1_ratios=(0,)."
        )
    elif given is None and penalty == "deprecated":
        _warn_of_future("'l1_ratios=None' was deprecated in version 1.8 of scikit-learn. Use a list such as (0,).")
    if penalty != "deprecated":
        _warn_of_future(
            "'penalty' was deprecated in version 1.8 of scikit-learn. Leave it at its default and use 'l1_ratios': "
            "(0,) for penalty='l2', (1,) for penalty='l1', any for penalty='elasticnet'."
        )
    if penalty == "elasticnet" and given is None:
        raise ParameterError.bad_value("l1_ratios", None, "a list of numbers between 0 and 1 with penalty='elasticnet'")
    used = np.zeros(1) if given is None else np.asarray(given, dtype=float)
    if penalty in {"l1", "l2"}:
        if given is not None:
            warn(f"l1_ratios parameter is only used when penalty is 'elasticnet'. Got (penalty={penalty})")
        used = np.full(len(used), 1.0 if penalty == "l1" else 0.0)
    return given, used


def _wants_legacy(model: Any) -> bool:
    if model.use_legacy_attributes == "warn":
        _warn_of_future(
            "The default value of use_legacy_attributes will change from True to False in version 1.10 of "
            "scikit-learn. Set it to False for the simple shapes of C_, l1_ratio_, scores_, coefs_paths_ and n_iter_, "
            "or to True to keep the older ones."
        )
        return True
    return bool(model.use_legacy_attributes)


def _wanted_scoring(model: Any) -> Any:
    if isinstance(model.scoring, str) and model.scoring == "warn":
        _warn_of_future(
            "The default value of the parameter 'scoring' will change from None, which is accuracy, to 'neg_log_loss' "
            "in version 1.11 of scikit-learn. Set it to either."
        )
        return "accuracy"
    return "accuracy" if model.scoring is None else model.scoring


def _warn_of_future(text: str) -> None:
    warn(text, FutureWarning)
