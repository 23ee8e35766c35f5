"""Naive Bayes for categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from discrim.block import MixedBlock
from discrim.errors import DataError, DiscrimWarning, ParameterError, warn
from discrim.inference.conjugate import DirichletPosterior
from discrim.inference.summary import Summary
from discrim.models.additive import AdditiveClassifier, check_levels
from discrim.models.beyond import METHODS, beyond_sklearn
from discrim.models.counts_summary import place_of
from discrim.models.forgetting import subtract_counts
from discrim.models.mixed_summary import Levels, additive_summary, groups_table
from discrim.models.parameters import Check, array_like, boolean, check_parameters, either, none, number, one_of
from discrim.solvers.additive import AdditiveRule
from discrim.solvers.dirichlet import leave_one_out_alpha, log_probabilities, log_unseen
from discrim.solvers.terms import LevelTerm
from discrim.sources import Rows, Schema
from discrim.statistics import ClassCounts, count_levels, merge_counts
from discrim.typing import Floats

# With force_alpha=False a smaller alpha is raised to this one, as in scikit-learn.
LEAST_ALPHA = 1e-10
# Categories of a numbered column up to the largest number; a table of more is a mistake.
MOST_CATEGORIES = 1 << 24


class CategoricalNB(AdditiveClassifier[ClassCounts]):
    """Columns of categories that are independent of each other within a class.

    **Model.** x_j | class k is level l with probability p_kjl, independently over the columns j; class k with
    probability pi_k.

    **Statistic.** Class weights n_k and how often each level was met in each class, N_kjl (``ClassCounts``).

    **Estimate.** p_kjl = (N_kjl + alpha_j) / (n_k + alpha_j L_j): the predictive mean with Dirichlet(alpha_j) over the
    L_j levels. A level that was never met in any class gets alpha_j / (n_k + alpha_j L_j), what a known level without
    rows in class k gets.

    **Rule.** The largest log pi_k + sum_j log p_kj(x_j): one look into a table for each column.

    Cost: one read of X, K (L_1 + ... + L_p) numbers of memory. Arrays hold the numbers 0, 1, 2, ... of the
    categories, as in scikit-learn, which also cuts off fractions; in frames and scans a column may also be text or
    categorical, and its levels are found on the way.

    Parameters
    ----------
    alpha : float, array of p numbers, or 'loo'
        Rows that are added to each level. 'loo' chooses for each column the one under which each row is likeliest
        given all others, from the counts alone.
    force_alpha : bool
        With False an alpha below 1e-10 becomes 1e-10, with a warning.
    fit_prior : bool
        Are the priors the shares of the classes? Else they are equal.
    class_prior : array of K numbers that sum to one, or None
    min_categories : int or array of p integers, or None
        The least number of categories of a column, for those that may come later.
    methods : {'scikit-learn', 'all'}
        'all' adds ``decision_function``, which scikit-learn's class lacks: with it, clients that prefer it to
        ``predict_proba`` would put their threshold on something else.

    Attributes
    ----------
    category_count_, feature_log_prob_ : for each column K x L_j counts and logarithms of probabilities
    categories_, n_categories_ : for each column its levels, and their number
    class_count_, class_log_prior_, classes_ : weights, logarithms of the priors, and labels
    alpha_ : the alpha of each column
    statistic_ : the raw statistic

    Examples
    --------
    >>> import numpy as np
    >>> from discrim import CategoricalNB
    >>> X = np.array([[0, 2], [1, 0], [0, 1], [1, 1]])
    >>> CategoricalNB().fit(X, ["a", "b", "a", "b"]).predict([[0, 7]])
    array(['a'], dtype='<U1')
    """

    _constraints: ClassVar[dict[str, Check]] = {
        "alpha": either(number(0), one_of("loo"), array_like()),
        "force_alpha": boolean(),
        "fit_prior": boolean(),
        "class_prior": either(none(), array_like()),
        "min_categories": either(none(), number(1), array_like()),
        "methods": METHODS,
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        min_categories: Any = None,
        methods: Literal["scikit-learn", "all"] = "scikit-learn",
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories
        self.methods = methods

    @beyond_sklearn
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Scores n x K (log posteriors up to a constant); for two classes, the second minus the first, n."""
        return super().decision_function(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.input_tags.categorical = True
        tags.input_tags.positive_only = True
        return tags

    @classmethod
    def from_statistic(cls, statistic: ClassCounts, **parameters: Any) -> Self:
        """A fitted model from a statistic alone."""
        model = cls(**parameters)
        check_parameters(model, model._constraints)
        if statistic.levels is None:
            raise DataError("CategoricalNB needs counts of levels; these are counts of columns.")
        texts = [levels.dtype.kind == "U" for levels in statistic.levels]
        names = tuple(f"x{j}" for j in range(len(texts)))
        kinds: Any = tuple("text" if text else "number" for text in texts)
        model._design = Schema(names, kinds, (True,) * len(texts), named=False)
        model.n_features_in_ = len(texts)
        model._learn(statistic, None)
        return model

    def posterior(self, feature: Any, cls: Any) -> DirichletPosterior:
        """What is known of the probabilities of the levels ``categories_`` of column ``feature`` in class ``cls``."""
        k = place_of(cls, self._check_solved().classes_, "class")
        j = place_of(feature, self._names, "column")
        return DirichletPosterior(self.category_count_[j][k] + self.alpha_[j])

    def _levelled(self, schema: Schema) -> Sequence[bool]:
        return [True] * len(schema.names)

    def _of_block(self, block: MixedBlock) -> ClassCounts:
        return count_levels(block)

    def _subtract(self, gone: ClassCounts) -> ClassCounts:
        return subtract_counts(self.statistic_, gone, self._names)

    def _combine(self, parts: Sequence[ClassCounts]) -> ClassCounts:
        known = zip(*(part.levels or () for part in parts), strict=True)
        for name, levels in zip(self._known_names(parts), known, strict=True):
            kinds = {values.dtype.kind == "U" for values in levels if len(values)}
            if len(kinds) > 1:
                raise DataError(f"Column '{name}' holds text in some rows and numbers in others.")
        return merge_counts(parts)

    def _checked(self, block: MixedBlock) -> MixedBlock:
        check_levels(self._names, getattr(self, "statistic_", None), block)
        for name, (levels, codes) in zip(self._names, block.levels, strict=True):
            if codes.size and codes.min() < 0:
                raise DataError(
                    f"Input X contains NaN: column '{name}' has missing values. Impute them, give them a category of "
                    "their own, or use MixedNB, which leaves them out."
                )
            if levels.dtype.kind != "U":
                _check_numbers(name, levels)
        return replace(block, levels=tuple(_whole(*coded) for coded in block.levels))

    def _solved(self, statistic: ClassCounts, rows: Rows | None) -> tuple[Any, ClassCounts]:  # noqa: ARG002
        assert statistic.levels is not None
        least = self._least_categories(len(statistic.levels))
        tables = [_dense(statistic, j, least[j]) for j in range(len(least))]
        self.alpha_ = self._alphas([count for _, count in tables])
        logs = [log_probabilities(count, alpha) for (_, count), alpha in zip(tables, self.alpha_, strict=True)]
        self.categories_ = [levels for levels, _ in tables]
        self.category_count_ = [count for _, count in tables]
        self.n_categories_ = np.array([count.shape[1] for _, count in tables])
        self.feature_log_prob_ = logs
        self.class_count_ = statistic.weight
        self.class_log_prior_ = self._log_priors(statistic.weight)
        terms = tuple(
            LevelTerm(levels, log_prob, log_unseen(count, alpha))
            for (levels, count), log_prob, alpha in zip(tables, logs, self.alpha_, strict=True)
        )
        return AdditiveRule(self.class_log_prior_, terms, (True,) * len(terms)), statistic

    def _least_categories(self, p: int) -> NDArray[np.int64]:
        if self.min_categories is None:
            return np.zeros(p, dtype=np.int64)
        least = np.asarray(self.min_categories)
        if least.dtype.kind not in "iu":
            raise ParameterError(f"'min_categories' should have integral type. Got {least.dtype} instead.")
        if least.ndim and least.shape != (p,):
            raise ParameterError(
                f"'min_categories' should have shape ({p},), one number a column; it has {least.shape}."
            )
        return np.broadcast_to(least, p).astype(np.int64)

    def _alphas(self, counts: Sequence[Floats]) -> Floats:
        if isinstance(self.alpha, str):
            return np.array([leave_one_out_alpha(count) for count in counts])
        alpha = np.asarray(self.alpha, dtype=np.float64)
        if alpha.ndim and alpha.shape != (len(counts),):
            raise ParameterError(
                f"When alpha is an array, it should contain `n_features` = {len(counts)} numbers; "
                f"its shape is {alpha.shape}."
            )
        if not (np.isfinite(alpha) & (alpha >= 0)).all():
            raise ParameterError("All values in alpha must be greater than 0, or 0, and finite.")
        if not self.force_alpha and (alpha < LEAST_ALPHA).any():
            warn(
                f"alpha too small will result in numeric errors, setting alpha = {LEAST_ALPHA:.1e}. "
                "Use `force_alpha=True` to keep alpha unchanged.",
                DiscrimWarning,
            )
            alpha = np.maximum(alpha, LEAST_ALPHA)
        return np.array(np.broadcast_to(alpha, len(counts)))

    def _known_names(self, parts: Sequence[ClassCounts]) -> list[str]:
        design = getattr(self, "_design", None)
        return [f"x{j}" for j in range(parts[0].n_features)] if design is None else list(design.names)

    def _summarise(self) -> Summary:
        labels = [str(label) for label in self.classes_]
        facts = {"Rows": int(self.statistic_.rows.sum()), "Columns": self.n_features_in_, "Classes": len(labels)}
        groups = groups_table(labels, self.class_log_prior_, self.statistic_.rows)
        columns = {name: [int(n)] for name, n in zip(self._names, self.n_categories_, strict=True)}
        parts = zip(self._names, self.categories_, self.category_count_, self.alpha_, strict=True)
        levels = [Levels(name, known, count, float(alpha)) for name, known, count, alpha in parts]
        return additive_summary("Categorical naive Bayes", facts, self._rule, groups, ["levels"], columns, levels)


def _check_numbers(name: str, levels: Floats) -> None:
    if levels[0] <= -1:
        raise DataError(
            f"Negative values in data passed to CategoricalNB (input X): column '{name}' holds {levels[0]:g}. "
            "Categories are numbered 0, 1, 2, ..."
        )
    if levels[-1] >= MOST_CATEGORIES:
        raise DataError(f"Column '{name}' holds {levels[-1]:.10g}. Number its categories 0, 1, 2, ...")


def _whole(levels: NDArray[Any], codes: NDArray[np.int32]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Numbers without their fractions, as scikit-learn reads them."""
    if levels.dtype.kind == "U" or np.array_equal(levels, np.trunc(levels)):
        return levels, codes
    whole, place = np.unique(np.trunc(levels) + 0.0, return_inverse=True)
    return whole, place.astype(np.int32)[codes]


def _dense(statistic: ClassCounts, j: int, least: int) -> tuple[NDArray[Any], Floats]:
    """Levels and counts of a column; numbered categories without a gap, up to ``least``."""
    assert statistic.levels is not None
    levels, count = statistic.levels[j], statistic.of_feature(j)
    if levels.dtype.kind != "U":
        size = max(int(levels[-1]) + 1 if len(levels) else 0, least)
        dense = np.zeros((len(count), size))
        dense[:, levels.astype(np.int64)] = count
        return np.arange(size, dtype=np.float64), dense
    # Categories that may come later have no name yet.
    return levels, np.pad(count, [(0, 0), (0, max(least - len(levels), 0))])
