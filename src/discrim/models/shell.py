"""The estimator around a recipe: rows in, everything learned assigned at once, answers out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import fields, replace
from functools import cache
from inspect import Parameter, signature
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from discrim.atomic import generator_state, set_back
from discrim.engines import KeptPasses, RowPasses
from discrim.errors import DataError, DiscrimError, ForgetError, ParameterError, RowsNeededError, name_list, warn
from discrim.exports.exporting import Exported
from discrim.families.recipe import Chosen, Recipe, Remark, Shape, Solved, Statistic, collected
from discrim.families.rule import Described, LinearRule, Output, Rule, as_one, changed_coefficients, written_rule
from discrim.inference.summary import Summary
from discrim.models.by_formula import ByFormula
from discrim.models.geometry import Geometry
from discrim.models.parameters import Check
from discrim.models.scoring import OfParts, also_of_parts, apply_rule, labels_of, score_margin
from discrim.models.stored import OWN_ANSWERS, StoredClassifier, StoredStatistic, refuse_own_answers
from discrim.sources import Design, Rows, Scan, code_labels, open_rows, require_labels
from discrim.sources.rows import as_rows_are, check_labelled, columns_in
from discrim.store.fields import Incoming, Outgoing, damaged
from discrim.typing import Floats

S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R", bound=Recipe[Any])


class Classifier(ByFormula, StoredClassifier, Geometry, Exported, OfParts, BaseEstimator, ABC):  # type: ignore[misc]
    """A classifier whose answers follow from a rule on the columns of a design."""

    _constraints: ClassVar[Mapping[str, Check]] = {}
    # What ``decision_function`` takes of the scores of two classes: their difference, unless a model says otherwise.
    margin_weights: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    # Is a missing value an error even for a rule of mixed columns?
    refuses_missing: ClassVar[bool] = True
    # What scikit-learn's tags say of the input.
    _input_tags: ClassVar[Mapping[str, bool]] = {"sparse": True}

    classes_: NDArray[Any]
    n_features_in_: int
    _rule: Rule
    _design: Design

    def _check_solved(self) -> Self:
        """Itself, if there is a rule; else the error that says why not."""
        check_is_fitted(self, "classes_")
        return self

    @abstractmethod
    def _summarise(self) -> Summary: ...

    def recipe(self) -> Recipe[Any]:
        """The model that these parameters describe, for those that are made of one."""
        raise NotImplementedError

    def checked_recipe(self) -> Recipe[Any]:
        """The same, or an error that names the parameter that cannot be used."""
        check_parameters(self, self._constraints)
        return self.recipe()

    def solution(self) -> Solved:
        """What the recipe made of the rows."""
        raise NotImplementedError

    def fitted_rule(self) -> Rule:
        """How rows are scored, as a plain value."""
        self._check_solved()
        return self._rule

    def ask_recipe(self, question: Callable[[Recipe[Any], Solved, Shape], T]) -> T | None:
        """What the recipe says of the fitted rule; None for a model that is not made of one."""
        self._check_solved()
        if recipe_of(self) is None:
            return None
        solved = replace(self.solution(), details=self.details())
        return question(self.recipe(), solved, Shape(self.columns_, self.classes_))

    def details(self) -> Any:
        """What the recipe has of the solution besides the rule."""
        return self.solution().details

    def check_parameters(self, names: set[str]) -> None:
        """Raise where a parameter among ``names`` has a value that cannot be used."""
        check_parameters(self, {name: check for name, check in self._constraints.items() if name in names})

    def write_learned(self, out: Outgoing, at: str) -> dict[str, Any]:
        """Classes, columns, rule and summary; an error where a subclass answers by code of its own."""
        refuse_own_answers(type(self))
        return super().write_learned(out, at)

    @also_of_parts
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Scores n x K (log posteriors up to a constant); for two classes, the second minus the first, n."""
        self._check_solved()
        if len(self._rule.constant) == 2:
            return score_margin(self._rule, self.rows_of(X), self.margin_weights)
        scores = self._apply(X, Output.SCORES)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @also_of_parts
    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest score."""
        return labels_of(self, self._apply(X, Output.BEST))

    @also_of_parts
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Posterior probabilities, n x K, columns as ``classes_``."""
        return self._apply(X, Output.POSTERIOR)

    @also_of_parts
    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Logarithms of the posteriors, exact where these underflow."""
        return self._apply(X, Output.LOG_POSTERIOR)

    def summary(self) -> Summary:
        """What was learned, for reading: prints as text, renders in a notebook, converts to a frame."""
        self._check_solved()
        known = self.kept_summary()
        return self._summarise() if known is None else known

    def plot(self, X: Any = None, y: Any = None, **options: Any) -> Any:
        """The picture that says most about this kind of model, as matplotlib axes; see ``discrim.plots``.

        With rows X (and labels y) they are drawn too. ``ax`` are axes to draw on, ``style`` is "light" or "dark"; other
        options are those of the function in ``discrim.plots`` that draws.
        """
        self._check_solved()
        if X is not None:
            self.rows_of(X)  # raises where its columns are not those of the model
        return self._draw(X, y, **options)

    def _draw(self, X: Any, y: Any, **options: Any) -> Any:
        """How ``plot`` draws this kind of model: the classes in the directions in which they differ most."""
        from discrim import plots

        return plots.separation(self, X, y, **options)

    def answering(self) -> Described:
        """How rows are answered, as a plain description: the rule, its columns, the classes, and what follows."""
        self._check_solved()
        for kind in type(self).__mro__:
            own = vars(kind).keys()
            if own & {"recipe", "posterior_form"}:
                break
            if own & (OWN_ANSWERS - {"fit"}):
                raise ParameterError(f"{kind.__name__} answers by methods of its own, which cannot be exported.")
        return "classifier", {
            "rule": self._rule.described(),
            "columns": self._design.described(),
            "classes": self.classes_,
            "margin": self.margin_weights,
            "posterior": self.posterior_form,
            "offers": hasattr(self, "predict_proba"),
            "decides": hasattr(self, "decision_function"),
            "refuses_missing": self.refuses_missing,
        }

    @property
    def posterior_form(self) -> str | None:
        """How posteriors follow from scores, as ``answering`` says it; None where there are none."""
        return "softmax"

    def open_rows(self, X: Any, y: Any, sample_weight: Any = None) -> Rows:
        """Labelled rows as ``fit`` would read them; the model stays as it is."""
        return self._read(X, y, sample_weight)

    def rows_of(self, X: Any) -> Rows:
        """Rows as ``predict`` reads them."""
        return self._read(X, None, None, design=self._design, labelled=False)

    @property
    def columns_(self) -> Design:
        """The columns that the model was fitted on."""
        return self._design

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        for name, value in self._input_tags.items():
            setattr(tags.input_tags, name, value)
        return tags

    def renamed(self, names: list[str]) -> Self:
        """A copy whose columns have these names."""
        other = copy(self)
        other.__dict__["_design"] = self._design.renamed(names)
        if other.came_from_file:
            other.__dict__["_kept"] = {**other.__dict__["_kept"], "summary": None}
        return other

    def _take_over(self, learned: Mapping[str, Any], remarks: Iterable[Remark] = ()) -> Self:
        """Have these attributes, and none that an earlier call learned, in one step; before it, warn of the remarks."""
        for remark in remarks:
            warn(*remark)
        return self._at_once(lambda: learned)

    @property
    def known_columns(self) -> dict[str, Any]:
        """What the model remembers of its columns."""
        names = ("n_features_in_", "feature_names_in_", "_design")
        return {name: self.__dict__[name] for name in names if name in self.__dict__}

    def _at_once(self, learn: Callable[[], Mapping[str, Any]]) -> Self:
        """Take over the attributes that ``learn`` gives, in place of those that were learned before, in one step.

        Where that fails or is interrupted, the model is as it was, and so is a generator that was given as
        ``random_state``.
        """
        before, generator = self.__dict__, self.__dict__.get("random_state")
        drawn = None if generator is None else generator_state(generator)
        try:
            learned = learn()
            kept = {name: value for name, value in before.items() if name not in before.get("_learned", ())}
            self.__dict__ = {**kept, **learned, "_learned": (*learned, "_learned")}
            return self  # noqa: TRY300 - an interrupt on the way out is one too
        except BaseException:
            self.__dict__ = before
            if drawn is not None:
                set_back(generator, drawn)
            raise

    @property
    def _names(self) -> list[str]:
        """Names of the columns of the design, categories expanded."""
        return self._design.names_out

    def _apply(self, X: Any, output: Output) -> NDArray[Any]:
        self._check_solved()
        return apply_rule(self._rule, self.rows_of(X), output)

    def _read(self, X: Any, y: Any, sample_weight: Any, *, design: Design | None = None, labelled: bool = True) -> Rows:
        """The rows of X; with a ``design`` the columns must be those that the model knows."""
        if type(X) is not np.ndarray:
            X, y, sample_weight = as_rows_are(X, y, sample_weight)
        if not isinstance(X, Scan):
            if labelled:
                require_labels(type(self).__name__, X, y)
            if isinstance(X, (np.ndarray, list, tuple)) and np.ndim(X) != 2:
                check_array(X, ensure_all_finite=False)  # raises, and says how to reshape
            if design is not None:
                self.refuse_columns(X)
        rows = self._opened(X, y, sample_weight, design)
        if labelled:
            check_labelled(rows)
        return rows

    def refuse_columns(self, X: Any) -> None:
        """Raise where the columns of X are not those that the model was fitted on, as far as their names go."""
        if not self._knows(columns_in(X)):
            validate_data(self, X, reset=False, skip_check_array=True)

    def _opened(self, X: Any, y: Any, sample_weight: Any, design: Design | None) -> Rows:
        return open_rows(X, y, sample_weight, design=design)

    def _knows(self, columns: int | list[str] | None) -> bool:
        """Are these the columns that the model was fitted on? If not, scikit-learn's function says what is wrong."""
        names = self.__dict__.get("feature_names_in_")
        return columns is not None and columns == (
            getattr(self, "n_features_in_", columns) if names is None else names.tolist()
        )

    def columns_of(self, X: Any, rows: Rows) -> dict[str, Any]:
        """What ``fit`` remembers of the columns of X."""
        found: dict[str, Any] = {"_design": rows.design}
        columns = columns_in(X)
        if isinstance(rows, Scan):
            found["n_features_in_"] = rows.design.n_in
            if rows.named:
                found["feature_names_in_"] = np.array(rows.design.names_in, dtype=object)
        elif isinstance(columns, int) or isinstance(X, list):
            found["n_features_in_"] = rows.design.n_in
        elif columns is not None:
            found.update(n_features_in_=len(columns), feature_names_in_=np.array(columns, dtype=object))
        else:
            # scikit-learn's function writes into the estimator, so that it is given another one.
            other = copy(self)
            other.__dict__.pop("feature_names_in_", None)
            validate_data(other, X, reset=True, skip_check_array=True)
            found = {**other.known_columns, **found}
        return found


class RecipeClassifier(StoredStatistic, Classifier):
    """A classifier that is made of a recipe: it needs the data only through what the recipe reduces them to.

    A subclass has the parameters, says what recipe they make, and how its summary reads. Whatever a call learns is
    assigned in one step at its end, so that one that fails or is interrupted changes nothing.
    """

    statistic_: Statistic
    _declared: NDArray[Any] | None = None
    _solved: Solved | None
    _unsolved: DiscrimError | None

    @abstractmethod
    def recipe(self) -> Recipe[Any]:
        """The model that these parameters describe."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, checkpoint: Any = None) -> Self:
        """Learn from rows X with labels y, or from a ``scan``, which brings its own labels and weights.

        With the path of a ``checkpoint``, a fit of a scan of files writes there every few seconds what it has so far.
        One that was killed goes on from there when it is called again, to the same bits, and removes the file at the
        end. Rows or parameters that have changed are refused.
        """
        recipe = self.checked_recipe()
        rows = self._read(X, y, sample_weight)
        reads = recipe.reads
        passes = RowPasses(rows, reads) if checkpoint is None else KeptPasses(rows, reads, checkpoint, self)
        with passes.fitting():
            columns = self.columns_of(X, rows)
            learned = recipe.fit(passes.shape, passes)
        return self._assign(columns, learned)

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows: any number of parts gives what one fit of all rows gives.

        A class that was not there before is added, unless ``classes`` was given: then labels outside it
        are an error.
        """
        check_parameters(self, self._constraints)
        self.check_resumable()
        first = not hasattr(self, "statistic_")
        rows = self._read(X, y, sample_weight, design=None if first else self._design)
        columns = self.columns_of(X, rows) if first else self.known_columns
        declared = declared_classes(self.declared_classes, classes)
        before = None if first else self.statistic_
        reduction = self.recipe().reduction(Shape(rows.design, rows.classes, rows.n_rows), before)
        statistic = collected(RowPasses(rows), reduction)
        if declared is not None:
            check_declared(statistic.classes, declared)
        statistic = statistic if first else reduction.merge([before, statistic])
        return self.from_sum(statistic, columns, declared, self.chosen)

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Unlearn rows: the model becomes what it would be had it never seen them.

        Settings that a fit chose ("cv", "loo") stay as they were chosen with these rows; a new fit chooses without.
        """
        self.check_resumable()
        check_is_fitted(self, "statistic_")
        rows = self._read(X, y, sample_weight, design=self._design)
        shape, recipe = Shape(rows.design, rows.classes, rows.n_rows), self.recipe()
        gone = collected(RowPasses(rows), recipe.reduction(shape, self.statistic_))
        try:
            left = recipe.without(self.statistic_, gone)
        except ForgetError as error:
            raise error.named(self._names) from None
        if not len(left.classes):
            raise DataError("Cannot forget every row the model has seen.")
        return self.from_sum(left, self.known_columns, self.declared_classes, self.chosen)

    @classmethod
    def from_statistic(cls, statistic: Any, **parameters: Any) -> Self:
        """A fitted model from a statistic alone."""
        model = cls(**parameters)
        check_parameters(model, cls._constraints)
        statistic = model.recipe().adopt(statistic)
        return model.from_sum(statistic, model.columns_from(statistic))

    def columns_from(self, statistic: Any) -> dict[str, Any]:
        """What a statistic alone says of the columns, as ``known_columns`` has it."""
        design = Design.unnamed(statistic.n_features, np.float64)
        return {"n_features_in_": statistic.n_features, "_design": design}

    def from_sum(
        self,
        statistic: Any,
        columns: Mapping[str, Any],
        declared: NDArray[Any] | None = None,
        chosen: Chosen | None = None,
    ) -> Self:
        """This model, fitted to the statistic of rows with these ``columns``, as ``known_columns`` has them.

        ``chosen`` is what the fit of some of these rows chose. A statistic that cannot be solved is kept with its
        error, since more rows may come.
        """
        if declared is not None:
            statistic = statistic.including(declared)
        recipe, adopted = self.recipe(), None
        try:
            adopted = recipe.adopt(statistic)
            solved = recipe.solve(adopted, Shape(columns["_design"], statistic.classes), None, chosen)
        except (DataError, ParameterError) as error:
            # More rows do not help where the statistic cannot serve the parameters: a model that had a rule keeps it.
            if self.__dict__.get("_solved") is not None and (
                adopted is None or isinstance(error, ParameterError | RowsNeededError)
            ):
                raise
            return self._assign(columns, error, statistic, declared)
        return self._assign(columns, solved, declared=declared)

    def from_solution(self, solved: Solved, columns: Mapping[str, Any]) -> Self:
        """This model, fitted by what was solved elsewhere for rows with these ``columns``."""
        return self._assign(columns, solved)

    def mergeable_statistic(self) -> Statistic:
        """The statistic, to be merged with those of other models; an error where it does not say all of this one."""
        self.check_resumable()
        check_is_fitted(self, "statistic_")
        return self.statistic_

    def solution(self) -> Solved:
        """What the recipe made of the statistic."""
        self._check_solved()
        assert self._solved is not None
        return self._solved

    def details(self) -> Any:
        """What attributes are made from; of a model from a file, solved again from the statistic that it kept."""
        solved = self.solution()
        if solved.details is None and self.came_from_file:
            self.check_resumable()
            shape = Shape(self._design, self.classes_)
            solved = self.recipe().solve(self.recipe().adopt(self.statistic_), shape, None, self.chosen)
            self._solved = replace(self.solution(), details=solved.details)
        return solved.details

    @property
    def _details(self) -> Any:
        """The same for attributes, which without a solution do not exist."""
        try:
            return self.details()
        except DiscrimError as error:
            raise AttributeError(str(error)) from error

    @property
    def chosen(self) -> Chosen | None:
        """The settings that a fit chose, where it had to."""
        return getattr(self, "_chosen", None)

    @property
    def declared_classes(self) -> NDArray[Any] | None:
        """The classes that the user declared before they were met."""
        return getattr(self, "_declared", None)

    @property
    def _rule(self) -> Rule:  # type: ignore[override]
        # Asked for by methods that have looked whether there is one, and by those who list all attributes.
        solved: Solved | None = self.__dict__.get("_solved")
        if solved is None:
            raise AttributeError("There is no rule yet.")
        return solved.rule

    def _assign(
        self,
        columns: Mapping[str, Any],
        found: Solved | DiscrimError,
        statistic: Any = None,
        declared: NDArray[Any] | None = None,
    ) -> Self:
        """Take over everything that was learned, in one step."""
        solved = found if isinstance(found, Solved) else None
        statistic = statistic if solved is None else solved.statistic
        learned: dict[str, Any] = {
            **columns,
            "classes_": statistic.classes,
            "statistic_": statistic,
            "_solved": solved,
            "_unsolved": None if isinstance(found, Solved) else found,
            "_chosen": self.chosen if solved is None else solved.chosen,
            **({} if solved is None else solved.attributes),
            **({} if declared is None else {"_declared": declared}),
        }
        return self._take_over(learned, () if solved is None else solved.remarks)

    def _check_solved(self) -> Self:
        if "_unsolved" not in self.__dict__:
            check_is_fitted(self, "statistic_")
        if self._unsolved is not None:
            # Raised again and again: without the calls that met it before.
            raise self._unsolved.with_traceback(None)
        return self


class SparseCoefficients(Classifier):
    """A model whose answers follow from ``coef_`` and ``intercept_`` as they are now, dense or sparse."""

    coef_: Any
    intercept_: Any
    _rule_of: Floats

    def check_learned(self, file: Incoming) -> None:
        """Raise where the coefficients are not those of the rule."""
        super().check_learned(file)
        user = as_one(self.coef_, self.intercept_)
        size = (max(len(user), 2), user.shape[1] - 1)
        if not isinstance(self._rule, LinearRule) or self._rule.coef.shape != size or not np.isfinite(user).all():
            raise damaged("coef_", "does not go with the rule")
        self._rule_of = user

    def _check_solved(self) -> Self:
        if "_design" not in self.__dict__:
            check_is_fitted(self, "coef_")
            self.n_features_in_ = int(self.coef_.shape[-1])
            self._design = Design.unnamed(self.n_features_in_, np.float64)
        changed = changed_coefficients(self.__dict__.get("_rule_of"), self.coef_, self.intercept_)
        if changed is not None:
            self._rule, self._rule_of = written_rule(changed), changed
        return self

    def _draw(self, X: Any, y: Any, **options: Any) -> Any:  # noqa: ARG002 - as of every model
        from discrim import plots

        return plots.coefficients(self, X, **options)

    def sparsify(self) -> Self:
        """Keep ``coef_`` as a sparse matrix."""
        check_is_fitted(self, "coef_")
        self.coef_ = sparse.csr_matrix(self.coef_)
        return self

    def densify(self) -> Self:
        """Keep ``coef_`` as an array."""
        check_is_fitted(self, "coef_")
        if not isinstance(self.coef_, np.ndarray):
            self.coef_ = self.coef_.toarray()
        return self


def recipe_of(model: Any) -> Recipe[Any] | None:
    """The recipe of a model, with its parameters checked, if its answers follow from it.

    They do not where a subclass has its own ``fit`` or ``predict`` or the like, unless it says what its recipe is.
    """
    if not isinstance(model, Classifier):
        return None
    for kind in type(model).__mro__:
        own = vars(kind)
        if "recipe" in own and kind is not Classifier:
            return model.checked_recipe()
        if own.keys() & OWN_ANSWERS:
            return None
    return None


def declared_classes(before: NDArray[Any] | None, classes: Any) -> NDArray[Any] | None:
    """The classes that were declared, now or before; two lists that differ are an error."""
    if classes is None:
        return before
    declared = code_labels(classes)[0]
    if before is not None and not np.array_equal(before, declared):
        raise ParameterError(
            f"`classes` ({name_list(declared)}) is not the same as on last call to partial_fit, when it was "
            f"{name_list(before)}. Give the same classes, or leave them out."
        )
    return declared


def check_declared(found: NDArray[Any], declared: NDArray[Any]) -> None:
    """Raise where a label was found that was not declared."""
    strange = found[~np.isin(found, declared)]
    if len(strange):
        raise DataError(
            f"The target label(s) {name_list(strange)} in y do not exist in the initial classes "
            f"{name_list(declared)}. Leave `classes` out to let new classes in."
        )


def check_parameters(estimator: Any, table: Mapping[str, Check]) -> None:
    """Raise ParameterError for the first parameter whose value cannot be used; the defaults can."""
    defaults = _defaults(type(estimator).__init__)
    for name, (fits, expected) in table.items():
        value = getattr(estimator, name)
        if value is not defaults.get(name, Parameter.empty) and not fits(value):
            raise ParameterError.bad_value(name, value, expected)


@cache
def _defaults(constructor: Callable[..., Any]) -> dict[str, Any]:
    return {name: parameter.default for name, parameter in signature(constructor).parameters.items()}


def recipe_from(kind: type[R], model: Any, /, **others: Any) -> R:
    """The recipe whose fields are the parameters of the model with the same names, but for ``others``."""
    names = _shared(kind, model.__class__, tuple(vars(model)))
    return kind(**{name: getattr(model, name) for name in names}, **others)


@cache
def _shared(kind: type, model: type, own: tuple[str, ...]) -> list[str]:
    """The fields of a recipe that models with these attributes of their own have too."""
    return [field.name for field in fields(kind) if field.name in own or hasattr(model, field.name)]
