"""Nearest centroids, plain and shrunken."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from discrim.families.gaussian.centroids import CentroidRule, NearestCentroidRecipe
from discrim.families.recipe import Selection
from discrim.families.rule import Output
from discrim.inference.summary import Summary, Table
from discrim.models.parameters import Check, array_like, either, none, number, numbers, one_of
from discrim.models.registry import Entry, crowded, enter
from discrim.models.scoring import apply_rule
from discrim.models.shell import RecipeClassifier, recipe_from


def _measures(model: Any) -> bool:
    """Absolute differences have no posteriors."""
    if model.metric != "euclidean":
        raise AttributeError("metric='manhattan' gives classes only; with 'euclidean' there are scores and posteriors.")
    return True


@dataclass(eq=False, repr=False)
class NearestCentroid(RecipeClassifier):
    """The class whose mean is nearest; with a threshold, nearest shrunken centroids, which leave columns out.

    **Model.** x_j | class k ~ N(mu_kj, s_j^2), independently over the columns j; most columns are the same in all
    classes.

    **Statistic.** Class weights n_k, means mu_kj and centred sums of squares (``ClassMoments``, diagonal).

    **Estimate.** s_j^2 = sum_k S_kj / (n - K), s_0 the median of the s_j. A class deviates from the mean mu_j of all
    rows by d_kj = (mu_kj - mu_j) / (m_k (s_j + s_0)) with m_k^2 = 1/n_k - 1/n, and is drawn towards it to
    d'_kj = sign(d_kj) (|d_kj| - threshold)_+. A column with d'_kj = 0 in all classes has no say.

    **Rule.** 'scikit-learn': the nearest centroid mu_j + m_k (s_j + s_0) d'_kj in the columns' own units; with priors
    that differ, and for ``decision_function`` and ``predict_proba``, the largest
    -|(x - centroid_k) / s|^2 + 2 log pi_k, of which posteriors are the softmax. 'pamr': the largest posterior,
    proportional to pi_k exp(-|(x - centroid_k) / (s + s_0)|^2 / 2), as Tibshirani et al. (2002) and R's pamr have it.

    Cost: one read of X, 2 n p operations, 4 K p numbers of memory. The path of T thresholds with 'cv' costs no further
    fits: T n K p operations for the scores of all folds together.

    Parameters
    ----------
    metric : {'euclidean', 'manhattan'}, distances to the means, or to the medians of the classes
    shrink_threshold : float, None or 'cv'
        'cv': the threshold of least error over ``cv`` folds, of equal ones the largest, which has the fewest columns.
    priors : {'uniform', 'empirical'} or array of K numbers
    rule : {'scikit-learn', 'pamr'}
    thresholds : array, the values tried with 'cv'; by default 30, evenly from 0 to where no column is left
    cv : int or splitter, for shrink_threshold='cv'
    selection : {'min', 'one-se'}, the least error, or the largest threshold within one standard error of it

    Attributes
    ----------
    centroids_ : K x p, shrunken
    deviations_ : K x p, the d'_kj
    within_class_std_dev_ : the s_j
    support_ : mask of the columns that are left
    shrink_threshold_ : the threshold that was used
    cv_results_ : thresholds, mean_error, std_error and mean_log_loss, with 'cv'
    class_prior_, classes_, statistic_

    Examples
    --------
    >>> from discrim import NearestCentroid, datasets
    >>> X, y = datasets.load_iris().xy
    >>> model = NearestCentroid(shrink_threshold="cv", rule="pamr").fit(X, y)
    >>> int(model.support_.sum()), round(model.score(X, y), 2)
    (4, 0.96)
    """

    centroids_: NDArray[Any] = field(init=False)
    deviations_: NDArray[Any] = field(init=False)
    support_: NDArray[np.bool_] = field(init=False)
    shrink_threshold_: float = field(init=False)
    class_prior_: NDArray[Any] = field(init=False)

    _constraints: ClassVar[dict[str, Check]] = {
        "metric": one_of("euclidean", "manhattan"),
        "shrink_threshold": either(none(), number(0), one_of("cv")),
        "priors": either(one_of("uniform", "empirical"), array_like()),
        "rule": one_of("scikit-learn", "pamr"),
        "thresholds": either(none(), numbers(0)),
        "selection": one_of("min", "one-se"),
    }

    metric: str = "euclidean"
    _: KW_ONLY
    shrink_threshold: Any = None
    priors: Any = "uniform"
    rule: Literal["scikit-learn", "pamr"] = "scikit-learn"
    thresholds: Any = None
    cv: Any = 10
    selection: Selection = "min"

    def recipe(self) -> NearestCentroidRecipe:
        """The model that these parameters describe."""
        return recipe_from(NearestCentroidRecipe, self)

    decision_function = available_if(_measures)(RecipeClassifier.decision_function)
    predict_proba = available_if(_measures)(RecipeClassifier.predict_proba)
    predict_log_proba = available_if(_measures)(RecipeClassifier.predict_log_proba)

    def _apply(self, X: Any, output: Output) -> NDArray[Any]:
        """By the linear rule that says the same, where there is one: sparse rows stay so."""
        rule = self.solution().rule
        return apply_rule(rule.simplest(output) if isinstance(rule, CentroidRule) else rule, self.rows_of(X), output)

    def _draw(self, X: Any, y: Any, **options: Any) -> Any:
        from discrim import plots

        # Without a threshold all columns are left, and the classes say more.
        return plots.surviving(self, **options) if self.shrink_threshold_ else plots.separation(self, X, y, **options)

    def _summarise(self) -> Summary:
        labels, statistic = [str(label) for label in self.classes_], self.statistic_
        left = np.flatnonzero(self.support_)
        # The columns that deviate most come first.
        order = left[np.argsort(-np.abs(self.deviations_[:, left]).max(axis=0, initial=0.0), kind="stable")]
        every = self._names
        names = [every[j] for j in order]
        facts = {
            "Rows": int(statistic.rows.sum()),
            "Columns": statistic.n_features,
            "Columns left": len(left),
            "Classes": len(labels),
            "Threshold": self.shrink_threshold_,
        }
        groups = np.column_stack([self.class_prior_, statistic.rows])
        tables = [
            Table("Shrunken deviations of the columns that are left", names, labels, self.deviations_[:, order].T),
            Table("Groups", labels, ["prior", "rows"], groups),
        ]
        return Summary("Nearest shrunken centroids", facts, tables, names=names, deviations=self.deviations_[:, order])


COMPARED = {"shrink_threshold": "cv", "priors": "empirical", "rule": "pamr"}
enter(Entry("Nearest centroid", NearestCentroid, COMPARED, cost=1.5, tuning="grid", offered=crowded))
