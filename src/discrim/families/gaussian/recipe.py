"""What all recipes of class moments share: R-factors where these lost their digits, priors; then Gaussian classes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from discrim.block import Block
from discrim.errors import NAMED, CollinearWarning, DataError, ParameterError, PrecisionWarning, name_list, plural
from discrim.families.gaussian.covariance import CONSTANT, EPS, IllConditionedError, Normalization, Target, last_place
from discrim.families.gaussian.grid import DEFAULT_VALUES, GaussianGrid, Names
from discrim.families.gaussian.leave_one_out import (
    gaussian_scores,
    is_ill,
    leaves_one_class,
    log_priors_without,
    student_scores,
)
from discrim.families.gaussian.quadratic import class_matrices
from discrim.families.gaussian.student import PredictMethod
from discrim.families.priors import given_priors, log_priors
from discrim.families.recipe import LeftOut, Passes, Recipe, Reduction, Remark, Search, Selection, Shape, Solved
from discrim.parallel import blas_threads
from discrim.statistics import ClassFactors, ClassMoments, Depth, FactorsOf, MomentsOf
from discrim.typing import Floats, Index

Statistic = ClassMoments | ClassFactors

# The least share of the target that fills the directions which turned rows lack, with digits to spare.
LEAST_RIDGE = 1e-8
# Columns up to which the linear algebra library keeps to one thread by itself.
TINY = 32


@dataclass(frozen=True, eq=False)
class MomentsRecipe(Recipe[Statistic]):
    """Classes that are known by their weights, means and scatter.

    A subclass says how deep the scatter must be, and how it is solved.
    """

    # A statistic of variances alone is as small for wide data as for long.
    thin_for_wide: ClassVar[bool] = True
    # Up to so many classes each has a scatter matrix of its own.
    full_up_to: ClassVar[int] = 0
    # Priors that do not sum to one are an error, instead of being rescaled.
    strict_priors: ClassVar[bool] = False

    priors: Any = None

    @abstractmethod
    def depth(self) -> Depth:
        """The scatter that these parameters need."""

    @abstractmethod
    def estimate_from(self, statistic: Statistic, shape: Shape, passes: Passes | None, *, reread: bool) -> Solved:
        """The rule and the attributes; with ``reread`` an IllConditionedError asks for R-factors instead of moments."""

    def reduction(self, shape: Shape, like: Statistic | None = None) -> Reduction[Any]:
        if like is not None:
            return FactorsOf(like.depth) if isinstance(like, ClassFactors) else MomentsOf(like.depth)
        # Rows that were turned into the space that they span have few columns: there a matrix costs little.
        thin = self.thin_for_wide and self.few_rows(shape) and shape.spanned_from is None
        return FactorsOf(self.depth(), self.full_up_to) if thin else MomentsOf(self.depth(), self.full_up_to)

    def few_rows(self, shape: Shape) -> bool:
        """Are rows the cheaper statistic? n^2 p / 2 multiplications and n p numbers, against n p^2 / 2 and p^2."""
        return shape.wide

    def estimate(self, statistic: Statistic, shape: Shape, passes: Passes | None) -> Solved:
        """Solve, and once more from R-factors where the scatter has lost too many digits."""
        reread = passes is not None and passes.again and isinstance(statistic, ClassMoments)
        size = min(int(statistic.rows.sum()), statistic.mean.shape[1])
        with nullcontext() if size <= TINY else blas_threads(size):
            try:
                solved = self.estimate_from(statistic, shape, passes, reread=reread)
            except IllConditionedError:
                assert passes is not None
                statistic = passes.reduce(self.factors()).including(statistic.classes)
                solved = self.estimate_from(statistic, shape, passes, reread=False)
            found = rounded_columns(statistic, shape)
        return solved if found is None else replace(solved, remarks=(*solved.remarks, found))

    def factors(self) -> Reduction[Any]:
        """What replaces moments that have lost their digits."""
        return FactorsOf(self.depth(), self.full_up_to)

    def check(self, statistic: Statistic) -> None:
        if self.priors is not None:
            self.class_priors(statistic.weight)

    def adopt(self, statistic: Statistic) -> Statistic:
        kind, needed = FactorsOf if isinstance(statistic, ClassFactors) else MomentsOf, self.depth()
        statistic = kind(needed, self.full_up_to).narrow(statistic)
        if statistic.depth is not needed and (statistic.depth, needed) != (Depth.FULL, Depth.POOLED):
            raise DataError(
                f"A model with these parameters needs a statistic of depth '{needed}'; this one has depth "
                f"'{statistic.depth}'. Fit all rows again with these parameters."
            )
        return statistic

    def among(self, known: Index, size: int) -> Self:
        """Of a class that does not occur nothing is known; the others share its prior."""
        if self.priors is None or len(known) == size or np.ndim(self.priors) != 1 or len(self.priors) != size:
            return self
        try:
            left = np.asarray(self.priors, dtype=np.float64)[known]
        except (TypeError, ValueError):  # refused in words when they are used
            return self
        return replace(self, priors=left / left.sum() if left.sum() > 0 else left)

    def class_priors(self, weight: Floats) -> tuple[Floats, tuple[Remark, ...]]:
        """The given priors, or the shares of the classes; and what there is to say of them."""
        if self.priors is not None:
            return given_priors(self.priors, weight, strict=self.strict_priors)
        total = weight.sum()
        return (weight / total if total > 0 else np.full(len(weight), 1.0 / len(weight))), ()

    def fixed_priors(self, weight: Floats) -> Floats | None:
        """The priors that the user fixed; None where they are the shares of the classes."""
        return None if self.priors is None else self.class_priors(weight)[0]


@dataclass(frozen=True, eq=False)
class GaussianRecipe(MomentsRecipe):
    """Gaussian classes, whose covariances divide the scatter by n or by n - K."""

    assumptions: ClassVar[tuple[str, ...]] = ("normal",)

    normalization: Normalization = "mle"


@dataclass(frozen=True, eq=False)
class RegularizedRecipe(GaussianRecipe):
    """Covariances that are shrunk: LDA, QDA, and all that lies between them."""

    # Have all classes the same covariance?
    shared: ClassVar[bool] = False

    target: Target = "identity"
    cv: Any = 10
    selection: Selection = "min"
    tol: float = 1e-4

    @property
    @abstractmethod
    def setting(self) -> tuple[float, float] | None:
        """The (alpha, gamma) of regularised discriminant analysis that this is, or None."""

    @property
    def rotation_invariant(self) -> bool:
        setting = self.setting
        return setting is not None and setting[1] < 1 - LEAST_RIDGE and self.target == "identity"

    def held_out(self, solved: Solved, shape: Shape) -> LeftOut | None:
        """LDA and QDA by rank-one changes; with shrinkage as regularised discriminant analysis."""
        s, setting = solved.statistic, self.setting
        if setting is None or leaves_one_class(s) or (setting[1] < 1 and self.target == "diagonal"):
            return None
        alpha, gamma = setting
        if gamma == 1:
            if not isinstance(s, ClassMoments):
                return None
            if self.shared or alpha == 1:
                s, priors = s.pooled() if self.shared else s, self.fixed_priors(s.weight)
                scores = partial(gaussian_scores, s, priors, self.normalization)
                return None if is_ill(s.scatter) else scores
            if any(is_ill(own.values) for own in class_matrices(s, self.normalization, EPS, alpha).within):
                return None

        def regularised(block: Block) -> Floats:
            of = ClassMoments.of(block, Depth.FULL)
            priors = self.fixed_priors(of.weight)
            grid = replace(
                self.grid_of(np.array([alpha]), np.array([gamma])), priors=priors, n_columns=shape.spanned_from
            )
            return np.asarray(next(grid.scores_without_each(block, of))[:, 0].T)

        return regularised

    def grid_of(self, alphas: Floats, gammas: Floats, names: Names = "alpha, gamma") -> GaussianGrid:
        """Settings to choose from."""
        priors = None if self.priors is None else np.asarray(self.priors, dtype=np.float64)
        return GaussianGrid(alphas, gammas, self.target, self.normalization, priors, names)


@dataclass(frozen=True, eq=False)
class CovarianceRecipe(RegularizedRecipe):
    """What LDA and QDA may be asked about their covariance matrices."""

    solver: str = "svd"
    shrinkage: Any = None
    covariance_estimator: Any = None
    predict_method: PredictMethod = "plug-in"

    @property
    def needs_rows(self) -> bool:
        return self.covariance_estimator is not None or self.shrinkage in ("auto", "ledoit-wolf", "cv", "loo")

    @property
    def kept(self) -> float:
        """The share of Sigma that shrinkage by a number keeps."""
        return 1.0 if self.shrinkage is None or isinstance(self.shrinkage, str) else 1.0 - float(self.shrinkage)

    @property
    def only_shrunk(self) -> bool:
        """Is the covariance the scatter itself, but for shrinkage?"""
        return self.covariance_estimator is None

    @property
    def setting(self) -> tuple[float, float] | None:
        plug_in = self.predict_method == "plug-in" and self.only_shrunk and not isinstance(self.shrinkage, str)
        return (0.0 if self.shared else 1.0, self.kept) if plug_in else None

    def grid(self, statistic: Statistic) -> GaussianGrid:  # noqa: ARG002 - the same for all
        return self.grid_of(np.array([0.0 if self.shared else 1.0]), 1.0 - DEFAULT_VALUES[::-1], "shrinkage")

    def search(self) -> Search | None:
        return Search(self.shrinkage, self.cv, self.selection) if self.shrinkage in ("cv", "loo") else None

    def held_out(self, solved: Solved, shape: Shape) -> LeftOut | None:
        if self.predict_method != "predictive" or not self.only_shrunk or self.shrinkage:
            return super().held_out(solved, shape)
        # Geisser's prediction has no prior scale: the scatters must have digits to spare.
        s = solved.statistic
        if not isinstance(s, ClassMoments) or (s.rows == 1).any():
            return None
        s = s.pooled() if self.shared else s
        logs = log_priors_without(s.weight, self.fixed_priors(s.weight))
        return None if is_ill(s.scatter) else partial(student_scores, s, logs, 0.0, 0.0, s.n_features)

    def regularised(self, solved: Solved) -> bool:  # noqa: ARG002 - determined by the parameters
        return self.shrinkage is not None

    def chosen_shrinkage(self) -> dict[str, float]:
        """``shrinkage_``, where it is one number."""
        given = self.shrinkage is not None and not isinstance(self.shrinkage, str)
        return {"shrinkage_": float(self.shrinkage)} if given else {}

    def check_options(self, *regularisers: Any) -> None:
        """Refuse options that exclude each other; ``regularisers`` are further ones of the model."""
        if self.covariance_estimator is not None and self.shrinkage is not None and self.shrinkage != 0:
            raise ParameterError(
                "covariance_estimator and shrinkage parameters are not None. Only one of the two can be set."
            )
        if self.predict_method == "plug-in":
            return
        given = (self.shrinkage, self.covariance_estimator, *regularisers)
        if any(value is not None and value != 0 for value in given):
            raise ParameterError(
                f"predict_method='{self.predict_method}' needs covariances as they are: leave shrinkage, reg_param, "
                "rank and covariance_estimator out, or use a Bayesian discriminant, whose prior regularises."
            )


def about_columns(shape: Shape, columns: Index, text: str) -> tuple[Remark, ...]:
    """A warning that names these columns, if there are any."""
    if not len(columns):
        return ()
    few = shape.columns.names_at(columns[: NAMED + 1].tolist())
    return (Remark(f"Columns {name_list(few, count=len(columns))} {text}", CollinearWarning),)


def refuse_one_class(statistic: Statistic) -> None:
    if len(statistic.classes) < 2:
        raise DataError("The number of classes has to be greater than one. Got 1 class. Add rows of another class.")


def refuse_single_rows(statistic: Statistic) -> None:
    """Refuse rows from which no variance within the classes follows."""
    rows, classes = int(statistic.rows.sum()), len(statistic.classes)
    if rows <= (statistic.rows > 0).sum():
        found = f"{plural(rows, 'sample')} of {plural(classes, 'class', 'classes')}"
        raise DataError(f"The number of samples must be more than the number of classes; found {found}. Add rows.")


def rank_tolerance(tol: float) -> float:
    """The user's threshold on scaled singular values, where it asks for more than scikit-learn's default.

    Up to that the rounding of the arithmetic alone decides which directions are dropped.
    """
    return float(tol) if tol > 1e-4 else 0.0


def possible_logs(priors: Floats, weight: Floats) -> Floats:
    """Logarithms of the priors; -inf for a class without rows, whatever its prior."""
    return log_priors(priors, weight > 0)


def rule_size(solved: Solved, *, quadratic: bool) -> float:
    """(K - 1)(1 + p) free parameters of linear log odds, (K - 1)(1 + p + p (p + 1) / 2) of quadratic ones."""
    p, others = varying_columns(solved.statistic), len(solved.statistic.classes) - 1
    return float(others * (1 + p + (p * (p + 1) // 2 if quadratic else 0)))


def varying_columns(statistic: Statistic) -> int:
    """Columns that vary within some class."""
    return int(np.count_nonzero(statistic.squares.sum(axis=0)))


def rounded_columns(statistic: Statistic, shape: Shape) -> Remark | None:
    """Name the columns that vary within a class, but by no more than one unit in the last place of their values."""
    squares, mean = statistic.squares, statistic.mean
    if not squares.size:
        return None
    # Nearly always nothing that varies is anywhere near, and no column has to be looked at. For a product of ten
    # thousand numbers the linear algebra library would wake its threads.
    bound = float(statistic.weight.sum()) * shape.eps**2 * float(np.einsum("kj,kj->", mean, mean))
    if float(squares.min()) > bound or float(squares[squares > 0].min(initial=np.inf)) > bound:
        return None
    divisor = statistic.weight[:, None] if statistic.depth is not Depth.POOLED else np.array(statistic.total_weight)
    deviation = np.sqrt(np.maximum(squares, 0.0) / np.where(divisor > 0, divisor, 1.0))
    return rounded_deviations(statistic.mean, deviation, shape.columns.names_out, shape.eps)


def rounded_deviations(mean: Floats, deviation: Floats, names: Sequence[str], eps: float) -> Remark | None:
    """The same from means (K x p) and deviations (K x p, or 1 x p of all classes together)."""
    unit = last_place(mean, eps)
    if len(deviation) < len(unit):
        unit = unit.max(axis=0, keepdims=True)
    lost = np.flatnonzero(((deviation > CONSTANT * unit) & (deviation <= unit)).any(axis=0)).tolist()
    if not lost:
        return None
    size = float(np.abs(mean[:, lost[0]]).max())
    return Remark(_message([names[j] for j in lost], size, eps), PrecisionWarning)


def _message(names: Sequence[str], size: float, eps: float) -> str:
    one, digits = len(names) == 1, int(-np.log10(eps))
    return (
        f"{'Column' if one else 'Columns'} {name_list(names)} {'varies' if one else 'vary'} within a class by no more "
        f"than the last of the {digits} digits that values near {size:.3g} have here, so most of what "
        f"{'it says is' if one else 'they say is'} rounding. Subtract a constant before the values are rounded"
        f"{', or keep them in double precision' if digits < 10 else ''}."
    )
