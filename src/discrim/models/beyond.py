"""Methods that scikit-learn's class of the same name lacks.

Client code asks an estimator whether it has ``predict_proba`` or ``decision_function`` and acts accordingly: a
threshold is put on the one or the other, a calibration is fitted to it. So a method that scikit-learn's class lacks is
hidden under scikit-learn's name, and only available with ``methods='all'``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from discrim.models.parameters import Check, one_of

Method = TypeVar("Method", bound=Callable[..., Any])

# The constraint on the parameter ``methods`` of every class that hides some.
METHODS: Check = one_of("scikit-learn", "all")


def beyond_sklearn(method: Method) -> Method:
    """A method that is only available with ``methods='all'``."""
    return available_if(offers_all)(method)  # type: ignore[no-any-return]


def posteriors_of(model: Any) -> Callable[[Any], NDArray[Any]] | None:
    """What gives the posteriors n x K of rows: ``predict_proba``, also where it is hidden; None without any."""
    found: Callable[[Any], NDArray[Any]] | None = getattr(model, "predict_proba", None)
    return getattr(model, "_posteriors", None) if found is None else found


def offers_all(model: Any) -> bool:
    """Is ``methods`` 'all'? Where it is not, the error that a client meets says what to set."""
    chosen = getattr(model, "methods", None)
    if chosen is None or chosen == "all":
        return chosen is not None
    name = type(model).__name__
    raise AttributeError(f"scikit-learn's {name} lacks this method. Set {name}(methods='all') to have it.")
