"""What the rule of a fitted model looks like in space: hyperplanes, distances, and rows drawn from its classes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.errors import DataError, ParameterError, name_list
from discrim.families.population import draw_rows, generator_of
from discrim.families.rule import LinearRule, Output
from discrim.models.scoring import apply_rule
from discrim.typing import Floats


@dataclass(frozen=True, eq=False)
class Hyperplane:
    """The boundary w'x + b = 0 between two classes: ``positive`` wins where w'x + b > 0.

    Examples
    --------
    >>> from discrim import LinearDiscriminantAnalysis
    >>> X, y = [[0.0, 0.0], [0.0, 2.0], [4.0, 0.0], [4.0, 2.0]], ["a", "a", "b", "b"]
    >>> border = LinearDiscriminantAnalysis(shrinkage=1.0).fit(X, y).hyperplane()
    >>> border.distance([[5.0, 7.0]]).round(6), border.foot([[5.0, 7.0]]).round(6)
    (array([3.]), array([[2., 7.]]))
    """

    w: Floats
    b: float
    negative: Any
    positive: Any

    @property
    def norm(self) -> float:
        """The length of w."""
        return float(np.linalg.norm(self.w))

    @property
    def offset(self) -> float:
        """-b / |w|: the signed distance of the boundary from zero, along the normal."""
        return -self.b / self.norm

    def score(self, X: Any) -> Floats:
        """w'x + b, n."""
        return np.asarray(np.asarray(X, dtype=np.float64) @ self.w + self.b)

    def distance(self, X: Any) -> Floats:
        """(w'x + b) / |w|: signed distances, positive on the side of ``positive``."""
        return self.score(X) / self.norm

    def foot(self, X: Any) -> Floats:
        """The nearest points of the boundary, x - (w'x + b) w / |w|^2, n x p."""
        rows = np.asarray(X, dtype=np.float64)
        return np.asarray(rows - np.outer(self.score(rows) / self.norm**2, self.w))


class Geometry:
    """Contributions, distances, boundaries and new rows, asked of the rule and the recipe of a fitted classifier."""

    def contributions(self: Any, X: Any) -> Floats:
        """What each column adds to the score of each class, n x K x p, for linear and quadratic rules and naive Bayes.

        With a constant of each class they sum to its score; differences between two classes are the terms of their
        log odds. A product of two columns of a quadratic rule counts half for each of them.
        """
        self._check_solved()
        parts = []
        for block in self.rows_of(X).blocks():
            dense = block.x if isinstance(block.x, np.ndarray) else block.x.toarray()
            parts.append(self._rule.contributions(dense))
        if any(part is None for part in parts):
            raise DataError(
                f"The scores of this {type(self).__name__} are no sum over the columns. Linear and quadratic rules "
                "and naive Bayes have such scores."
            )
        return np.concatenate([part for part in parts if part is not None])

    def distance(self: Any, X: Any) -> NDArray[Any]:
        """Signed Euclidean distances of the rows to the boundary of a linear rule.

        For two classes n numbers, positive on the side of the second class. For K classes n x K: column k is positive
        inside the region of class k, and its size is the distance to the nearest of the hyperplanes between k and
        another class, or outside of the region to the one that is missed by most. Cost: n p K, and n K^2.
        """
        rule = self.linear_rule()
        rows, classes = self.rows_of(X), len(rule.offset)
        scores = apply_rule(rule, rows, Output.SCORES).astype(np.float64, copy=False)
        nearest = np.full(scores.shape, np.inf)
        for k, other in permutations(range(classes), 2):
            norm = np.linalg.norm(rule.coef[k] - rule.coef[other])
            with np.errstate(divide="ignore", invalid="ignore"):  # of equal functions one may always win
                gap = (scores[:, k] - scores[:, other]) / norm
            nearest[:, k] = np.minimum(nearest[:, k], gap)
        return nearest[:, 1] if classes == 2 else nearest

    def hyperplane(self: Any, negative: Any = None, positive: Any = None) -> Hyperplane:
        """The boundary w'x + b = 0 between two classes, given by their labels; with two classes there is one."""
        rule, labels = self.linear_rule(), self.classes_.tolist()
        if negative is None and positive is None and len(labels) == 2:
            negative, positive = labels
        for name, label in (("negative", negative), ("positive", positive)):
            if label not in labels:
                raise ParameterError.bad_value(name, label, f"the label of a class, one of {name_list(labels)}")
        if negative == positive:
            raise ParameterError(f"A boundary is between two classes; both are {negative!r}.")
        low, high = labels.index(negative), labels.index(positive)
        return Hyperplane(
            rule.coef[high] - rule.coef[low], float(rule.intercept[high] - rule.intercept[low]), negative, positive
        )

    def linear_rule(self: Any) -> LinearRule:
        """The rule as one linear function a class; an error where its boundaries are no hyperplanes."""
        rule: LinearRule | None = self._check_solved().fitted_rule().linear
        if rule is None:
            raise DataError(
                f"The boundaries of this {type(self).__name__} are not hyperplanes, so that they have no normal and no "
                "distance in closed form. Linear rules have: linear discriminant analysis, least squares, logistic "
                "regression, perceptrons, and others with coef_."
            )
        return rule

    def mahalanobis(self: Any, X: Any) -> NDArray[Any]:
        """Squared Mahalanobis distances (x - mu_k)' Sigma_k^-1 (x - mu_k) of the rows to every class, n x K.

        Sigma_k is the covariance as the model estimates it: one for all classes, one for each, or variances only; of
        Bayesian models the scale matrix of the predictive density, (Psi + S_k)(1 + 1/n_k) / df_k. A class without rows
        has NaN. Cost: n p^2 K.
        """
        rule = self.ask_recipe(lambda recipe, solved, shape: recipe.distances(solved, shape))
        if rule is None:
            raise DataError(
                f"{type(self).__name__} has no covariance matrix of its classes. Discriminant analysis, Gaussian naive "
                "Bayes and nearest centroids have."
            )
        squared = -2.0 * apply_rule(rule, self.rows_of(X), Output.SCORES)
        squared[:, ~(np.asarray(self.statistic_.weight) > 0)] = np.nan
        return np.asarray(squared)

    def sample(self: Any, n: int, random_state: Any = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """New rows from the fitted distributions: (X, y), n rows of classes drawn by their probabilities.

        The same seed gives the same rows. X is an array of float64, or of objects where columns are text, which
        ``pandas.DataFrame(X, columns=model.feature_names_in_).infer_objects()`` makes a table of. Gaussian models of
        a table with categories draw the columns of indicators that these were coded as. Counts have as many draws a
        row as the rows of their class had on average. Bayesian models draw from the predictive density. Cost: n p^2,
        and p^3 for every class with a covariance matrix.
        """
        if not (isinstance(n, (int, np.integer)) and not isinstance(n, bool) and n >= 1):
            raise ParameterError.bad_value("n", n, "a whole number of rows, at least 1")
        population = self.ask_recipe(lambda recipe, solved, shape: recipe.population(solved, shape))
        if population is None:
            raise DataError(
                f"{type(self).__name__} says nothing about how rows are distributed within the classes, so that none "
                "can be drawn. Discriminant analysis and naive Bayes do."
            )
        rows, codes = draw_rows(population, int(n), generator_of(random_state))
        return rows, self.classes_[codes]
