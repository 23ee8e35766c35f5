"""What the parameters of cross-validated logistic regression mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discrim.errors import ParameterError, warn
from discrim.families.logistic.fit import PenaltyTerms
from discrim.models.logistic.training import check_solver, terms_for
from discrim.models.parameters import Check, either, integer
from discrim.typing import Floats


@dataclass(frozen=True)
class PenaltyGrid:
    """``Cs`` by ``l1_ratios``; ``given`` are the l1_ratios as the user gave them, None where they were not."""

    Cs: Floats
    l1_ratios: Floats
    given: Any
    terms: tuple[tuple[PenaltyTerms, ...], ...]


def strengths() -> Check:
    """``Cs``: how many, or a list of positive numbers."""

    def fits(value: Any) -> bool:
        try:
            array = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            return False
        return array.ndim == 1 and array.size > 0 and bool((array > 0).all())

    return either(integer(1), (fits, "a list of positive numbers (np.inf for no penalty)"))


def read_options(model: Any) -> tuple[PenaltyGrid, bool, Any]:
    """The grid, whether attributes have scikit-learn's older shapes, and the name or callable that scores."""
    given, l1_ratios = _l1_ratios(model)
    return _penalty_grid(model, given, l1_ratios), _wants_legacy(model), _wanted_scoring(model)


def _penalty_grid(model: Any, given: Any, l1_ratios: Floats) -> PenaltyGrid:
    """All penalties that are tried, checked against a named solver."""
    Cs = np.logspace(-4, 4, model.Cs) if np.ndim(model.Cs) == 0 else np.asarray(model.Cs, dtype=float)
    for l1_ratio in l1_ratios:
        for C in Cs:
            check_solver(model, 0.0 if np.isinf(C) else 1.0, float(l1_ratio))
    terms = tuple(tuple(terms_for(model, 1.0 / C, l1_ratio) for C in Cs.tolist()) for l1_ratio in l1_ratios.tolist())
    return PenaltyGrid(Cs, l1_ratios, given, terms)


def _l1_ratios(model: Any) -> tuple[Any, Floats]:
    """As they were given, and as they are used: the deprecated ``penalty`` overrules them."""
    given, penalty = model.l1_ratios, model.penalty
    if isinstance(given, str):
        given = None
        _tell(
            "The default value for l1_ratios will change from None to (0.0,) in version 1.10 of scikit-learn. Set it, "
            "for example l1_ratios=(0,)."
        )
    elif given is None and penalty == "deprecated":
        _tell("'l1_ratios=None' was deprecated in version 1.8 of scikit-learn. Use a list such as (0,).")
    if penalty != "deprecated":
        _tell(
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
        _tell(
            "The default value of use_legacy_attributes will change from True to False in version 1.10 of "
            "scikit-learn. Set it to False for the simple shapes of C_, l1_ratio_, scores_, coefs_paths_ and n_iter_, "
            "or to True to keep the older ones."
        )
        return True
    return bool(model.use_legacy_attributes)


def _wanted_scoring(model: Any) -> Any:
    if isinstance(model.scoring, str) and model.scoring == "warn":
        _tell(
            "The default value of the parameter 'scoring' will change from None, which is accuracy, to 'neg_log_loss' "
            "in version 1.11 of scikit-learn. Set it to either."
        )
        return "accuracy"
    return "accuracy" if model.scoring is None else model.scoring


def _tell(text: str) -> None:
    warn(text, FutureWarning)
