"""Exceptions and warnings, the fact, then a hint; and what a call that fails leaves behind: nothing."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy, deepcopy
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

Method = TypeVar("Method", bound=Callable[..., Any])
Model = TypeVar("Model")


class DiscrimError(Exception):
    """Base of every error this library raises on purpose."""


class ParameterError(DiscrimError, ValueError):
    """A constructor or method parameter has a value that cannot be used."""

    @classmethod
    def bad_value(cls, name: str, found: object, expected: str) -> ParameterError:
        return cls(f"The '{name}' parameter is {found!r}; it must be {expected}.")


class DataError(DiscrimError, ValueError):
    """The rows, labels or weights cannot be used as they are."""

    @classmethod
    def non_finite(cls, missing: Mapping[str, int], infinite: Mapping[str, int]) -> DataError:
        """Name the columns that hold NaN or infinity, and how many of each."""
        kinds = [kind for kind, where in (("NaN", missing), ("infinity", infinite)) if where]
        columns = list(dict.fromkeys([*missing, *infinite]))
        facts = [_describe_column(c, missing.get(c, 0), infinite.get(c, 0)) for c in columns[:5]]
        more = f"; and {len(columns) - 5} more columns" if len(columns) > 5 else ""
        return cls(
            f"Input X contains {' and '.join(kinds)}: {'; '.join(facts)}{more}. "
            "Remove or impute these values first, for example with sklearn.impute.SimpleImputer."
        )


class SingularClassError(DataError, np.linalg.LinAlgError):
    """A class covariance matrix has no inverse."""


class ForgetError(DataError):
    """Rows cannot be forgotten because the statistic does not contain them."""

    @classmethod
    def never_seen(cls, label: object, found: tuple[int, float], fact: str = "") -> ForgetError:
        """Name the class, the rows that were to be forgotten and their weight; the fact that gives them away."""
        rows, weight = found
        because = f" {fact}" if fact else ""
        return cls(
            f"Cannot forget {plural(rows, 'row')} (weight {weight:g}) of class '{label}': they are not among the rows "
            f"that were seen.{because}"
        )


class NegativeCountError(DataError):
    """A count is below zero."""


class MissingDependencyError(DiscrimError, ImportError):
    """An optional package is needed for what was asked."""

    @classmethod
    def for_package(cls, package: str, purpose: str, extra: str) -> MissingDependencyError:
        return cls(f"{purpose} needs the package '{package}'. Install it with: pip install 'discrim[{extra}]'")


class KernelsError(DiscrimError, ValueError):
    """The kernels that an environment variable asks for cannot run here."""


class DiscrimWarning(UserWarning):
    """Base of every warning of this library, so that one filter covers all."""


class CollinearWarning(DiscrimWarning):
    """Some columns carry no information beyond the others."""


class SeparationWarning(DiscrimWarning, ConvergenceWarning):  # type: ignore[misc]
    """The classes are separated, so that maximum-likelihood estimates are infinite: no fit converges to them."""


class FewRowsWarning(DiscrimWarning):
    """A class has fewer rows than there are folds."""


class LeftOutWarning(DiscrimWarning):
    """A column is not learned from, because it says nothing about the rows."""


class ManyLevelsWarning(DiscrimWarning):
    """Most rows of a column of categories have one of their own."""


class InterruptedWarning(DiscrimWarning):
    """A comparison was stopped by the keyboard; the models that were done are kept."""


class NotSeparatedWarning(DiscrimWarning):
    """No hyperplane was found that has every row right."""


class SlowKernelsWarning(DiscrimWarning):
    """Large data are read by the NumPy reference because the compiled kernels were not built."""


class PrecisionWarning(DiscrimWarning):
    """The values of a column are so large that their rounding hides how they vary."""


class WeightsWarning(DiscrimWarning):
    """What was asked for takes weights as numbers of equal rows, and they are something else."""


class PriorsWarning(DiscrimWarning):
    """The given priors do not sum to one and were rescaled."""


def all_or_nothing(method: Method) -> Method:
    """A method after which its object has changed as a whole; where it raises or is interrupted, not at all.

    It works on a shallow copy, whose attributes the object takes over in one assignment at the end. What lies behind
    an attribute is shared with the copy: the method replaces it and never writes into it. A generator that was given
    as ``random_state`` is set back.
    """

    @wraps(method)
    def whole(self: Any, *args: Any, **parameters: Any) -> Any:
        before = self.__dict__
        working = object.__new__(type(self))
        working.__dict__.update(before)
        generator = before.get("random_state")
        drawn = _state_of(generator) if isinstance(generator, _GENERATORS) else None
        try:
            result = method(working, *args, **parameters)
            self.__dict__ = dict(working.__dict__)
            return self if result is working else result  # noqa: TRY300 - an interrupt on the way out is one too
        except BaseException:
            self.__dict__ = before
            if drawn is not None:
                _set_back(generator, drawn)
            raise

    return whole  # type: ignore[return-value]


def learning_copy(model: Model) -> Model:
    """A copy that may learn more without a trace in ``model``; our own models share what they never write into."""
    ours = type(model).__module__.partition(".")[0] == "discrim"
    return copy(model) if ours else deepcopy(model)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line outside this library that led here, however deep the call was made."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "discrim":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def name_list(names: Iterable[object], most: int = 5) -> str:
    """Quote the first few names and count the rest: ``'a', 'b' and 3 more``."""
    quoted = [f"'{name}'" for name in names]
    if len(quoted) <= most:
        return ", ".join(quoted)
    return f"{', '.join(quoted[:most])} and {len(quoted) - most} more"


def plural(count: int, singular: str, plural_form: str | None = None) -> str:
    return f"{count} {singular if count == 1 else plural_form or singular + 's'}"


_GENERATORS = (np.random.RandomState, np.random.Generator)


def _state_of(generator: Any) -> Any:
    return generator.get_state() if isinstance(generator, np.random.RandomState) else generator.bit_generator.state


def _set_back(generator: Any, state: Any) -> None:
    if isinstance(generator, np.random.RandomState):
        generator.set_state(state)
    else:
        generator.bit_generator.state = state


def _describe_column(name: str, missing: int, infinite: int) -> str:
    parts: Sequence[str] = [
        text for count, text in ((missing, f"{missing} NaN"), (infinite, f"{infinite} infinite")) if count
    ]
    return f"column '{name}' has {' and '.join(parts)}"
