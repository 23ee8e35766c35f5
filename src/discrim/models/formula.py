"""A classifier of the columns that a formula makes of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from discrim.atomic import all_or_nothing
from discrim.basis.formula import FormulaBasis, table_of
from discrim.errors import DataError, ParameterError
from discrim.inference.covariance import standard_errors
from discrim.inference.intervals import refuse_after_choice
from discrim.inference.summary import Table
from discrim.models.around import AroundModel, model_has
from discrim.models.formula_effects import formula_effects
from discrim.models.logistic.inference import LogisticInference
from discrim.models.parameters import Check, either, none, with_method
from discrim.models.shell import Classifier, check_parameters
from discrim.sources import Scan, scan
from discrim.store.fields import Fields, Incoming, damaged
from discrim.store.kinds import Of

# What a model answers about itself, without rows.
ABOUT = frozenset({
    "confint", "odds_ratios", "vcov", "drop1", "anova", "wald_test", "residuals", "leverage",
    "cooks_distance", "dfbetas", "loo_", "separation_", "steps_", "coef_", "intercept_", "n_iter_", "statistic_",
    "fitted_model", "trace_",
})  # fmt: skip


class FormulaClassifier(AroundModel):
    """A model of the columns that a formula makes of a data frame, a scan or a file.

    ``Model.from_formula(formula, data, ...)`` makes one. Rows are given as they come, to ``fit`` and to ``predict``;
    the summary, tests and intervals of the model have the names of the formula, and ``drop1``, ``anova`` and ``step``
    go by its terms: of terms that others contain, as ``a:b`` contains ``a``, the larger ones are left out first.

    Parameters
    ----------
    formula : str, such as ``"y ~ age * sex + C(job, ref='clerk') + poly(x, 2)"``; see ``basis.FormulaBasis``
    model : a classifier; None is ``LogisticRegression(C=np.inf)``, R's ``glm``

    Attributes
    ----------
    basis_, model_ : what was fitted
    classes_ : the labels

    Examples
    --------
    >>> import pandas as pd
    >>> from discrim import LogisticRegression, datasets
    >>> iris = datasets.load_iris()
    >>> table = pd.DataFrame(iris.data, columns=["sl", "sw", "pl", "pw"]).assign(kind=iris.target)[50:]
    >>> model = LogisticRegression.from_formula("kind ~ sl * sw", table, C=float("inf"))
    >>> model.summary().names
    ['(Intercept)', 'sl', 'sw', 'sl:sw']
    >>> list(model.drop1().index)
    ['<none>', 'sl:sw']
    """

    _constraints: ClassVar[dict[str, Check]] = {"model": either(none(), with_method("fit"))}

    learned: ClassVar[Fields] = {"basis_": Of(FormulaBasis), "model_": Of(BaseEstimator)}

    classes_: NDArray[Any]
    basis_: FormulaBasis

    def __init__(self, formula: str, model: Any = None) -> None:
        self.formula = formula
        self.model = model

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **options: Any) -> Self:
        """Learn from a table with the columns of the formula; labels are its left side, or y without one.

        X is a data frame (pandas, polars, Arrow), a dict of columns, a scan or the path of a file; ``options`` go to
        the ``fit`` of the model, as ``offset`` or ``trials``.
        """
        check_parameters(self, self._constraints)
        target, right = split_formula(self.formula)
        X, y = _labelled(X, y, target)
        basis = FormulaBasis(right)
        basis.learn(X, without=target)
        model = self._fresh(intercept=basis.intercept_)
        if sample_weight is not None:
            options["sample_weight"] = sample_weight
        columns = basis.transform(X)
        model = model.fit(columns, **options) if isinstance(columns, Scan) else model.fit(columns, y, **options)
        self.basis_, self.model_, self.classes_ = basis, _named(model, basis), model.classes_
        self._rows = X if getattr(model, "inference", False) else None
        self.__dict__.pop("_kept_summary", None)
        return self

    def predict_interval(self, X: Any, level: float = 0.95, **options: Any) -> Any:
        """Probabilities with standard errors and intervals, as ``LogisticRegression.predict_interval`` has them."""
        check_is_fitted(self, "model_")
        return self.model_.predict_interval(self.basis_.transform(X), level, **options)

    @available_if(model_has("marginal_effects"))  # type: ignore[untyped-decorator]
    def marginal_effects(
        self,
        at: str = "overall",
        level: float = 0.95,
        *,
        cov_type: str = "auto",
        groups: Any = None,
        weights: str = "auto",
    ) -> Table:
        """d probability / d column of the table, with standard errors by the delta method.

        A column counts in all of its terms: the effect of ``x`` in ``x * z + poly(x, 2)`` is that of moving x, and the
        columns that were made of it with it. Of a category the effect is the difference of the probability between
        each level and the one that the formula compares with. Averaged over the rows of the fit, which the model keeps
        a reference to, or ``at="mean"``, for a row of mean numbers and most frequent levels. Columns that a formula
        makes levels of, as ``C(x > 1)``, are left out. Cost: five passes for a column of numbers, one for a level.

        Examples
        --------
        >>> import pandas as pd
        >>> from discrim import LogisticRegression, datasets
        >>> iris = datasets.load_iris()
        >>> table = pd.DataFrame(iris.data, columns=["sl", "sw", "pl", "pw"]).assign(kind=iris.target)[50:]
        >>> model = LogisticRegression.from_formula("kind ~ sl + I(sl**2)", table, C=float("inf"))
        >>> list(model.marginal_effects().index)
        ['sl']
        """
        check_is_fitted(self, "model_")
        fitted = self.model_.fitted_model()
        refuse_after_choice(fitted, "marginal_effects()")
        rows = self.__dict__.get("_rows")
        if rows is None:
            raise DataError(
                "marginal_effects() needs the rows that the model was fitted on, and a model that was saved or copied "
                "does not carry them. Fit it again first."
            )
        errors = standard_errors(fitted, cov_type, groups, weights)
        return formula_effects(self.basis_, fitted, errors, lambda: self.basis_.frames_of(rows), at, level)

    def summary(self, **options: Any) -> Any:
        """The summary of the model, with the names of the formula; ``options`` are those of its ``summary``."""
        check_is_fitted(self, "model_")
        known = self.__dict__.get("_kept_summary")
        return self.model_.summary(**options) if options or known is None else known

    def separated(self, X: Any) -> tuple[Any, Any]:
        """The table without the column of the labels that the formula names, and these; None where it names none."""
        target, _ = split_formula(self.formula)
        if target is None:
            return X, None
        X, y = _labelled(X, None, target)
        if isinstance(X, Scan):
            return X, None
        others = [j for j, name in enumerate(table_of(X).names) if name != target]
        return _safe_indexing(X, others, axis=1), y

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted; without y, those that the formula names in X."""
        y = self.separated(X)[1] if y is None else y
        if y is None:
            raise DataError("score needs the labels of the rows: pass y.")
        return float(super().score(X, y, sample_weight))

    def step(self, criterion: str = "aic", direction: str = "both") -> Self:
        """The model of the terms that AIC or BIC chooses step by step; see ``LogisticRegression.step``."""
        check_is_fitted(self, "model_")
        model = self.model_.step(criterion, direction)
        kept = [name for name, _ in model.fitted_model().terms]
        basis = self.basis_.restricted(kept)
        target, _ = split_formula(self.formula)
        left = "" if target is None else f"{target} ~ "
        other = type(self)(left + basis.formula, self.model)
        other.__dict__.update(basis_=basis, model_=model, classes_=model.classes_, _rows=self.__dict__.get("_rows"))
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_rows"}

    def __getattr__(self, name: str) -> Any:
        """What the model says of itself."""
        if name in ABOUT and "model_" in self.__dict__:
            return getattr(self.model_, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self)

    def _fresh(self, *, intercept: bool) -> Any:
        from discrim.models.logistic.regression import LogisticRegression

        model = LogisticRegression(C=np.inf) if self.model is None else clone(self.model)
        if not intercept:
            if "fit_intercept" not in model.get_params():
                raise ParameterError(
                    f"The formula '{self.formula}' has no intercept, and {type(model).__name__} always has one. "
                    "Leave '- 1' or '+ 0' out."
                )
            model.set_params(fit_intercept=False)
        return model

    def check_learned(self, file: Incoming) -> None:  # noqa: ARG002 - the parts know it themselves
        """Raise where the model takes other columns than the formula makes."""
        if getattr(self.model_, "n_features_in_", None) != len(self.basis_.get_feature_names_out()):
            raise damaged("basis_", "makes other columns than the model takes")

    def _answers(self, X: Any, method: str) -> NDArray[Any]:
        check_is_fitted(self, "model_")
        answers: NDArray[Any] = getattr(self.model_, method)(self.basis_.transform(_opened(X)))
        return answers

    def _columns_made(self, X: Any) -> Any:
        return self.basis_.transform(_opened(X))

    def _names_made(self) -> list[str] | None:
        return None  # the model has them already


def _named(model: Any, basis: FormulaBasis) -> Any:
    """The model with the columns and the terms of the formula."""
    names = basis.get_feature_names_out().tolist()
    if isinstance(model, LogisticInference) and model.inference is not False:
        return model.regrouped(names, basis.terms_, basis.margins_)
    return model.renamed(names) if isinstance(model, Classifier) else model


def split_formula(formula: Any) -> tuple[str | None, str]:
    """The column of the labels, or None, and the right side."""
    if not isinstance(formula, str):
        raise ParameterError.bad_value("formula", formula, "a text such as 'y ~ age * sex + poly(x, 2)'")
    left, tilde, right = formula.partition("~")
    if "~" in right:
        raise ParameterError.bad_value("formula", formula, "a text with one '~'")
    target = left.strip().strip("`")
    return (target or None, right.strip()) if tilde else (None, formula.strip())


def _opened(X: Any, target: str | None = None) -> Any:
    return scan(X, target=target) if isinstance(X, (str, Path)) else X


def _labelled(X: Any, y: Any, target: str | None) -> tuple[Any, Any]:
    """The rows and their labels, which the left side of the formula names."""
    X = _opened(X, target)
    if isinstance(X, Scan):
        if target is not None and X.target != target:
            found = "has no target" if X.target is None else f"has the target '{X.target}'"
            raise ParameterError(
                f"The formula has '{target}' on its left side, and the scan {found}. Scan with target='{target}'."
            )
        return X, None
    if target is None:
        if y is None:
            raise ParameterError("The formula has no left side and y is not given. Write 'label ~ ...', or pass y.")
        return X, y
    table = table_of(X)
    if y is not None:
        if target in table.names and not np.array_equal(
            np.asarray(y), np.asarray(table.labels(target, 0, table.n_rows))
        ):
            raise ParameterError(
                f"The labels are '{target}' by the formula, and y is given too, with other values. Leave "
                "one of them out."
            )
        return X, y
    if target not in table.names:
        raise DataError(
            f"The table has no column '{target}' for the left side of the formula. The left side is the name of a "
            "column of labels; make such a column first."
        )
    return X, table.labels(target, 0, table.n_rows)
