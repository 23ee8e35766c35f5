"""What naive Bayes of counts shares: one statistic, smoothing, class probabilities."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import partial
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from discrim.engines import reduce_blocks
from discrim.errors import DataError, NegativeCountError, ParameterError, warn
from discrim.families.rule import LinearRule, Output
from discrim.inference.conjugate import DirichletPosterior
from discrim.models.beyond import beyond_sklearn
from discrim.models.forgetting import subtract_counts
from discrim.models.mergeable import MergeableClassifier
from discrim.models.parameters import Check, array_like, boolean, either, none, number, numbers, one_of
from discrim.models.scoring import apply_rule, non_finite_error
from discrim.models.smoothing import choose_alpha
from discrim.solvers.counts import Family, Solution
from discrim.sources import Rows
from discrim.statistics import ClassCounts, merge_counts
from discrim.typing import Floats

LEAST_ALPHA = 1e-10


class CountsClassifier(MergeableClassifier[ClassCounts]):
    """A classifier whose statistic is the sums of the columns in each class.

    A subclass says what family of distributions the columns have. With alpha = 0 a row may be impossible in every
    class; it gets the answer that small alpha tend to.
    """

    alpha: Any
    force_alpha: bool
    fit_prior: bool
    class_prior: Any
    class_alpha: Any
    alphas: Any
    cv: Any
    class_count_: Floats
    class_log_prior_: Floats
    feature_count_: Floats
    feature_log_prob_: Floats
    alpha_: Any
    _rule: LinearRule
    _never: LinearRule | None

    _signed: ClassVar[bool] = False
    _constraints: ClassVar[dict[str, Check]] = {
        "alpha": either(number(0), array_like(), one_of("loo", "cv")),
        "force_alpha": boolean(),
        "fit_prior": boolean(),
        "class_prior": either(none(), array_like()),
        "class_alpha": either(number(0), numbers(0)),
        "alphas": either(none(), numbers(LEAST_ALPHA)),
    }

    @abstractmethod
    def _family(self) -> Family:
        """How counts become probabilities."""

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows: any number of parts gives what one fit of all rows gives.

        A class that was not there before is added, unless ``classes`` was given: then labels outside it
        are an error.
        """
        if isinstance(self.alpha, str) and not hasattr(self, "alpha_"):
            raise self._needs_rows_error()
        return super().partial_fit(X, y, classes=classes, sample_weight=sample_weight)

    def predict_joint_log_proba(self, X: Any) -> NDArray[Any]:
        """log P(class k) + log P(row | class k), n x K."""
        self._check_solved()
        rows = self._open(X, None, None, reset=False, labelled=False)
        if self._never is None:
            return apply_rule(self._rule, rows, Output.SCORES)
        scores, never = self._both(rows)
        return np.where(never == 0, scores, np.where(never > 0, -np.inf, np.inf)).astype(scores.dtype)

    # The models without a parameter ``methods`` never have it: scikit-learn's checks would hand them negative numbers.
    @beyond_sklearn
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Scores n x K (log posteriors up to a constant); for two classes, the second minus the first, n."""
        if self._check_solved()._never is None:
            return super().decision_function(X)
        scores = self._apply(X, Output.SCORES)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def class_posterior(self) -> DirichletPosterior:
        """What is known of the classes' probabilities: Dirichlet(class_alpha + n_k)."""
        return DirichletPosterior(self._check_solved().class_count_ + np.asarray(self.class_alpha, dtype=np.float64))

    def _collect(self, rows: Rows, like: ClassCounts | None) -> ClassCounts:  # noqa: ARG002 - there is one form
        classes = 2 if rows.classes is None else len(rows.classes)
        of = partial(ClassCounts.of, threshold=self._family().threshold, signed=self._signed)
        try:
            statistic = reduce_blocks(rows, of, merge_counts, state_bytes=8 * classes * rows.design.n_out)
        except NegativeCountError:
            raise self._negative(rows) from None
        if not statistic.finite:
            raise non_finite_error(rows) or DataError(
                "The sums of X overflow or X holds NaN or infinity. Scale the columns or clean them."
            )
        return statistic

    def _combine(self, parts: Sequence[ClassCounts]) -> ClassCounts:
        return merge_counts(parts)

    def _subtract(self, gone: ClassCounts) -> ClassCounts:
        return subtract_counts(self.statistic_, gone, self._names)

    def _check_form(self, statistic: ClassCounts) -> ClassCounts:
        if statistic.levels is not None:
            raise DataError(f"{type(self).__name__} needs counts of columns; this statistic has counts of levels.")
        return statistic

    def _solved(self, statistic: ClassCounts, rows: Rows | None) -> tuple[LinearRule, ClassCounts]:
        self.class_count_, self.feature_count_ = statistic.weight, statistic.count
        self.class_log_prior_ = self._log_prior(statistic.weight)
        self.alpha_ = self._resolved_alpha(statistic, rows)
        solution = self._family().solve(statistic, self.alpha_)
        self.feature_log_prob_ = solution.log_prob
        return self._rule_of(solution), statistic

    def _rule_of(self, solution: Solution) -> LinearRule:
        """The rule of the scores, and beside it the one that counts what cannot be."""
        origin, threshold = np.zeros(solution.coef.shape[1]), self._family().threshold
        self._never = None
        if solution.never is not None:
            self._never = LinearRule(*solution.never, origin, threshold)
        offset = solution.constant + self._score_prior(self.class_log_prior_)
        return LinearRule(solution.coef, offset, origin, threshold)

    def _score_prior(self, log_prior: Floats) -> Floats:
        """What the classes' probabilities add to the scores."""
        return log_prior

    def _log_prior(self, weight: Floats) -> Floats:
        size = len(weight)
        with np.errstate(divide="ignore"):
            if self.class_prior is not None:
                given = np.asarray(self.class_prior, dtype=np.float64)
                if given.shape != (size,):
                    raise ParameterError(
                        f"Number of priors must match number of classes. There are {given.size} for {size} classes."
                    )
                if not (np.isfinite(given) & (given >= 0)).all():
                    raise ParameterError("The priors in 'class_prior' must be finite and not negative.")
                return np.asarray(np.log(given))
            if not self.fit_prior:
                return np.full(size, -np.log(size))
            added = np.asarray(self.class_alpha, dtype=np.float64)
            if added.ndim and added.shape != (size,):
                raise ParameterError(f"'class_alpha' has {added.size} numbers for {size} classes.")
            counted = weight + added
            return np.asarray(np.log(counted) - np.log(counted.sum()))

    def _resolved_alpha(self, statistic: ClassCounts, rows: Rows | None) -> Any:
        if not isinstance(self.alpha, str):
            return self._check_alpha()
        if rows is None:
            if hasattr(self, "alpha_"):
                # The parts of a stream are not kept: what an earlier fit chose is kept instead.
                return self.alpha_
            raise self._needs_rows_error()
        return choose_alpha(self, statistic, rows)

    def _check_alpha(self) -> Any:
        alpha: Any = float(self.alpha) if isinstance(self.alpha, Real) else np.asarray(self.alpha, dtype=np.float64)
        if isinstance(alpha, np.ndarray):
            if alpha.shape != (self.n_features_in_,):
                raise ParameterError(
                    "When alpha is an array, it should contains `n_features`. "
                    f"Got {_told_shape(alpha)} instead of {self.n_features_in_}."
                )
            bad = alpha[~(np.isfinite(alpha) & (alpha >= 0))]
            if len(bad):
                raise ParameterError(f"All values in alpha must be greater than 0, and finite. One is {bad[0]:g}.")
        if np.min(alpha, initial=np.inf) < LEAST_ALPHA and not self.force_alpha:
            warn(
                f"alpha too small will result in numeric errors, setting alpha = {LEAST_ALPHA:.1e}. Use "
                "`force_alpha=True` to keep alpha unchanged.",
                UserWarning,
            )
            return np.maximum(alpha, LEAST_ALPHA)
        return alpha

    def _needs_rows_error(self) -> ParameterError:
        return ParameterError(
            f"alpha='{self.alpha}' needs the rows themselves to leave some out: use fit on all rows, or give a number."
        )

    def _apply(self, X: Any, output: Output) -> NDArray[Any]:
        if self._check_solved()._never is None:
            return super()._apply(X, output)
        scores, never = self._both(self._open(X, None, None, reset=False, labelled=False))
        never[:, np.isneginf(self._rule.offset)] = np.inf
        scores[never > never.min(axis=1, keepdims=True)] = -np.inf
        if output is Output.SCORES:
            return scores
        if output is Output.BEST:
            return np.asarray(scores.argmax(axis=1))
        logs = log_softmax(scores, axis=1)
        return np.asarray(logs if output is Output.LOG_POSTERIOR else np.exp(logs))

    def _both(self, rows: Rows) -> tuple[NDArray[Any], NDArray[Any]]:
        """Scores, and how often each row has what its class cannot have: one pass."""
        assert self._never is not None
        size = len(self.classes_)
        parts = self._rule, self._never
        coef, offset = np.vstack([r.coef for r in parts]), np.concatenate([r.offset for r in parts])
        both = apply_rule(LinearRule(coef, offset, self._rule.origin, self._rule.threshold), rows, Output.SCORES)
        return both[:, :size], both[:, size:]

    def _negative(self, rows: Rows) -> DataError:
        """The error that names the first column with a negative value."""
        text = f"Negative values in data passed to {type(self).__name__} (input X)"
        for block in rows.blocks() if rows.rereadable else ():
            x = block.x
            columns = np.nonzero(x < 0)[1] if isinstance(x, np.ndarray) else x.indices[x.data < 0]
            if len(columns):
                text += f": column '{rows.design.names_out[columns.min()]}' is the first of {len(np.unique(columns))}"
                break
        return DataError(f"{text}. Counts are zero or more; for other numbers use GaussianNB.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        tags.input_tags.positive_only = not self._signed
        return tags


def _told_shape(values: NDArray[Any]) -> str:
    return f"{values.size} elements" if values.ndim == 1 else f"an array of the shape {values.shape}"
