"""Class priors: given by the user, or the shares of the classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from discrim.errors import ParameterError, PriorsWarning, warn
from discrim.families.recipe import Remark
from discrim.typing import Floats, Mask


def resolve_priors(given: Any, weight: Floats, *, strict: bool = False) -> Floats:
    """One prior a class: the given ones, rescaled with a warning where need be, or the shares of the classes."""
    if given is None:
        total = weight.sum()
        return np.asarray(weight / total if total > 0 else np.full(len(weight), 1.0 / len(weight)))
    priors, remarks = given_priors(given, weight, strict=strict)
    for remark in remarks:
        warn(*remark)
    return priors


def given_priors(given: Any, weight: Floats, *, strict: bool) -> tuple[Floats, tuple[Remark, ...]]:
    """Given priors, one a class. Those that do not sum to one are rescaled with a remark, or refused (strict)."""
    priors = checked_priors(given, weight, "Priors" if strict else "priors")
    total = priors.sum()
    if abs(total - 1.0) <= (1e-8 if strict else 1e-5):
        return priors, ()
    if strict or total == 0:
        raise ParameterError(f"The sum of the priors should be 1. It is {total:g}; divide them by that.")
    return priors / total, (Remark(f"The priors sum to {total:g}, not to 1, and were rescaled.", PriorsWarning),)


def checked_priors(given: Any, weight: Floats, name: str = "priors") -> Floats:
    """Given priors as they are, one a class, none of them negative."""
    try:
        priors = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError.bad_value("priors", given, f"{len(weight)} numbers, one for each class") from None
    if priors.shape != weight.shape:
        raise ParameterError(
            f"Number of priors must match number of classes: {priors.size} priors are given for {len(weight)} classes."
        )
    bad = priors[~(np.isfinite(priors) & (priors >= 0))]
    if len(bad):
        raise ParameterError(f"{name} must be non-negative and finite; one of those given is {bad[0]:g}.")
    return priors


def log_priors(priors: Floats, possible: Mask | bool = True) -> Floats:
    """Logarithms, -inf for a prior of zero, and for what is not possible."""
    return np.log(priors, out=np.full(np.shape(priors), -np.inf), where=possible & (priors > 0))
