"""What the penalty and solver parameters of logistic regression mean."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from discrim.errors import ParameterError, warn
from discrim.families.logistic.fit import PenaltyTerms
from discrim.models.parameters import Check

# Names of scikit-learn's solvers; all answers come from the same few routes here.
SMOOTH_ONLY = ("lbfgs", "newton-cg", "newton-cholesky", "sag")
SOLVERS = ("auto", *SMOOTH_ONLY, "liblinear", "saga", "newton", "quasi-newton")


def positive(*, infinite: bool = False) -> Check:
    """A number above 0, of any type; ``infinite`` allows infinity too."""

    def fits(value: Any) -> bool:
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
            return False
        return 0 < float(value) < np.inf or (infinite and float(value) == np.inf)

    return fits, "a finite number above 0" + (" or np.inf" if infinite else "")


def penalty_terms(model: Any) -> PenaltyTerms:
    """The penalty that C, l1_ratio and the deprecated ``penalty`` ask for, checked against a named solver."""
    strength, l1_ratio = _strength(model)
    check_solver(model, strength, l1_ratio)
    return terms_for(model, strength, l1_ratio)


def terms_for(model: Any, strength: float, l1_ratio: float) -> PenaltyTerms:
    """The penalty of this ``strength`` = 1 / C, with the part of the intercept that the solver's name asks for."""
    lasso, ridge = strength * l1_ratio, strength * (1.0 - l1_ratio)
    if model.solver == "liblinear" and model.fit_intercept:
        # liblinear treats the intercept as one more coefficient, of a column that holds intercept_scaling.
        held = float(model.intercept_scaling)
        return PenaltyTerms(lasso, ridge, ridge / held**2, lasso / held)
    return PenaltyTerms(lasso, ridge)


def _strength(model: Any) -> tuple[float, float]:
    """1 / C and the share of L1, as the parameters say it in either way."""
    penalty, l1_ratio = model.penalty, model.l1_ratio
    if l1_ratio is None:
        if penalty == "elasticnet":
            raise ParameterError("l1_ratio must be specified when penalty is elasticnet.")
        if penalty == "deprecated":
            warn("'l1_ratio=None' was deprecated in version 1.8. Use 0<=l1_ratio<=1 instead.", FutureWarning)
        l1_ratio = 0.0
    if penalty != "deprecated":
        _tell_deprecated(model)
        l1_ratio = {"l1": 1.0, "l2": 0.0, "elasticnet": l1_ratio, None: 0.0}[penalty]
    strength = 0.0 if penalty is None or np.isinf(model.C) else 1.0 / float(model.C)
    return strength, float(l1_ratio)


def _tell_deprecated(model: Any) -> None:
    warn(
        "'penalty' was deprecated in version 1.8 of scikit-learn. Leave it at its default and use 'l1_ratio' or 'C': "
        "l1_ratio=0 for penalty='l2', l1_ratio=1 for penalty='l1', any l1_ratio for penalty='elasticnet', and C=np.inf "
        "for penalty=None.",
        FutureWarning,
    )
    given = model.l1_ratio
    if (model.penalty == "l2" and given != 0) or (model.penalty == "l1" and given != 1):
        warn(
            f"Inconsistent values: penalty={model.penalty} with l1_ratio={given}. The l1_ratio parameter is only used "
            f"when penalty is 'elasticnet'. Got (penalty={model.penalty}), which is taken. Use l1_ratio alone."
        )
    if model.penalty is None and (model.C != 1.0 or given not in {0, None}):
        warn("Setting penalty=None will ignore the C and l1_ratio parameters")


def check_solver(model: Any, strength: float, l1_ratio: float) -> None:
    """scikit-learn's limits of the solvers that it names; 'auto' has none."""
    solver, lasso = model.solver, strength > 0 and l1_ratio > 0
    if solver in {*SMOOTH_ONLY, "newton", "quasi-newton"} and lasso:
        name = "l1" if l1_ratio == 1 else "elasticnet"
        raise ParameterError(
            f"Solver {solver} supports only 'l2' or None penalties, got {name} penalty. Use solver='auto'."
        )
    if solver != "liblinear" and model.dual:
        raise ParameterError(f"Solver {solver} supports only dual=False, got dual={model.dual}")
    if solver == "liblinear":
        if 0 < l1_ratio < 1 and lasso:
            raise ParameterError("Only 'saga' solver supports elasticnet penalty, got solver=liblinear.")
        if strength == 0:
            raise ParameterError("C=np.inf as well as penalty=None is not supported for the liblinear solver")
