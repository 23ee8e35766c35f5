"""Exceptions and warnings: the fact, then a hint."""

from __future__ import annotations

import difflib
import functools
import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ParamSpec, TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

P = ParamSpec("P")
R = TypeVar("R")

# Names that are quoted before the rest are counted.
NAMED = 5


class DiscrimError(Exception):
    """Base of every error this library raises on purpose."""


class ParameterError(DiscrimError, ValueError):
    """A constructor or method parameter has a value that cannot be used."""

    @classmethod
    def bad_value(cls, name: str, found: object, expected: str) -> ParameterError:
        return cls(f"The '{name}' parameter is {found!r}; it must be {expected}.")


class UnknownParameterError(ParameterError, TypeError):
    """A function has no parameter of that name."""


def known_names(meant: Mapping[str, str]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """For a function of many named parameters: says of a name that it lacks what is ``meant``, or which are similar."""

    def wrapped(function: Callable[P, R]) -> Callable[P, R]:
        known = list(inspect.signature(function).parameters)

        @functools.wraps(function)
        def checked(*args: P.args, **named: P.kwargs) -> R:
            for name in named:
                if name not in known:
                    close = difflib.get_close_matches(name, known, n=1)
                    hint = meant.get(name, f"Did you mean '{close[0]}'?" if close else "")
                    raise UnknownParameterError(
                        f"{function.__name__} has no parameter '{name}'. {hint}{' ' * bool(hint)}It has "
                        f"{name_list(known, most=len(known))}."
                    )
            return function(*args, **named)

        return checked

    return wrapped


class DataError(DiscrimError, ValueError):
    """The rows, labels or weights cannot be used as they are."""

    @classmethod
    def non_finite(cls, missing: Mapping[str, int], infinite: Mapping[str, int]) -> DataError:
        """Name the columns that hold NaN or infinity, and how many of each."""
        kinds = [kind for kind, where in (("NaN", missing), ("infinity", infinite)) if where]
        columns = list(dict.fromkeys([*missing, *infinite]))
        facts = [_describe_column(c, missing.get(c, 0), infinite.get(c, 0)) for c in columns[:5]]
        more = f"; and {len(columns) - 5} more columns" if len(columns) > 5 else ""
        by = "" if infinite else ", for example with sklearn.impute.SimpleImputer"
        what = "Mend these values, or leave their rows out" if infinite else "Remove or impute these values first"
        text = f"Input X contains {' and '.join(kinds)}: {'; '.join(facts)}{more}. {what}{by}."
        return cls(text) if infinite else MissingValuesError(text, missing)

    @classmethod
    def unreadable(cls, name: object, reason: object, form: str = "") -> DataError:
        """What a parser says of a file, and what to do where it is in another encoding."""
        said = " ".join(str(reason).split()).rstrip(".")
        foreign = "utf8" in said.lower().replace("-", "")
        hint = ". It is in another encoding; save it as UTF-8." if foreign else ""
        return cls(f"'{name}' cannot be read{form}: {said}{hint or ('' if said.endswith('?') else '.')}")

    @staticmethod
    def empty_column(*names: str) -> DataError:
        """The error for columns without a value in any row."""
        one = len(names) == 1
        which = f"Column {name_list(names)} has" if one else f"Columns {name_list(names)} have"
        error = EmptyColumnsError(f"{which} no value in any row. Leave {'it' if one else 'them'} out.")
        error.names = names
        return error


class EmptyColumnsError(DataError):
    """Columns that have no value in any row: their ``names``."""

    names: tuple[str, ...] = ()


class MissingValuesError(DataError):
    """Some values are NaN and none is infinite; ``missing`` are the columns, and how many each has."""

    def __init__(self, message: str, missing: Mapping[str, int]) -> None:
        super().__init__(message)
        self.missing = dict(missing)


class SingularClassError(DataError, np.linalg.LinAlgError):
    """A class covariance matrix has no inverse."""


class RowsNeededError(DataError):
    """The parameters require the rows themselves, and only their statistic is available."""


class ForgetError(DataError):
    """Rows cannot be forgotten: the statistic does not contain them, or only rounding would be left without them."""

    about: tuple[str, int] | None = None

    @classmethod
    def of_column(cls, text: str, column: int) -> ForgetError:
        """``text`` with the number of the column in the place of {column}; ``named`` puts a name there."""
        error = cls(text.replace("{column}", str(column)))
        error.about = text, column
        return error

    def named(self, names: Sequence[str]) -> ForgetError:
        """The same with the name of the column."""
        if self.about is None:
            return self
        text, column = self.about
        return ForgetError(text.replace("{column}", f"'{names[column]}'"))

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


class ModelFileError(DiscrimError, ValueError):
    """A model cannot be written to a file, or a file cannot be read as a model."""


class CheckpointError(DiscrimError, ValueError):
    """A checkpoint cannot be written, or is of another fit or other rows."""


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


class RowsInFileWarning(DiscrimWarning):
    """A model file has rows of the data, because the model is made of them."""


class NotStoredWarning(DiscrimWarning):
    """A parameter that is neither a number nor a text is left out of a model file."""


class ManyLevelsWarning(DiscrimWarning):
    """Most rows of a column of categories have one of their own."""


class ReadAgainWarning(DiscrimWarning):
    """Partitions are too large to be kept by the workers, so that every pass of a fit reads them again."""


class InterruptedWarning(DiscrimWarning):
    """A comparison was stopped by the keyboard; the models that were done are kept."""


class NotSeparatedWarning(DiscrimWarning):
    """No hyperplane was found that has every row right."""


class SlowKernelsWarning(DiscrimWarning):
    """Large data are read by the NumPy reference because the compiled kernels were not built."""


class PrecisionWarning(DiscrimWarning):
    """The values of a column are so large that their rounding hides how they vary."""


class UnfinishedWarning(DiscrimWarning, ConvergenceWarning):  # type: ignore[misc]
    """A descent stopped before it had converged."""


class OrderWarning(DiscrimWarning):
    """Rows come in the order of their classes to a learner that forgets."""


class WeightsWarning(DiscrimWarning):
    """What was asked for takes weights as numbers of equal rows, and they are something else."""


class PriorsWarning(DiscrimWarning):
    """The given priors do not sum to one and were rescaled."""


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line outside this library that led here, however deep the call was made."""
    frame, level = inspect.currentframe(), 1
    while (
        frame is not None
        and frame.f_back is not None
        and frame.f_globals.get("__name__", "").partition(".")[0] == "discrim"
    ):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def name_list(names: Iterable[object], most: int = NAMED, count: int | None = None) -> str:
    """Quote the first few names and count the rest: ``'a', 'b' and 3 more``. There are ``count``, if not all given."""
    quoted = [f"'{name}'" for name in names]
    count = len(quoted) if count is None else count
    if count <= most:
        return ", ".join(quoted)
    return f"{', '.join(quoted[:most])} and {count - most} more"


def plural(count: int, singular: str, plural_form: str | None = None) -> str:
    return f"{count:,} {singular if count == 1 else plural_form or singular + 's'}"


def _describe_column(name: str, missing: int, infinite: int) -> str:
    parts: Sequence[str] = [
        text for count, text in ((missing, f"{missing} NaN"), (infinite, f"{infinite} infinite")) if count
    ]
    return f"column '{name}' has {' and '.join(parts)}"
