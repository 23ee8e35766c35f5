"""Densities of classes as plain data: distributions of scipy.stats, by their names and numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from discrim.errors import ModelFileError, name_list
from discrim.store.fields import Array, Field, Incoming, Outgoing, Texts, damaged
from discrim.store.values import Labels, Value

# A file names one of these; no other name is looked up.
CONTINUOUS = (
    "norm", "uniform", "expon", "gamma", "beta", "t", "chi2", "f", "lognorm", "laplace", "logistic", "cauchy",
    "gumbel_l", "gumbel_r", "weibull_min", "weibull_max", "pareto", "triang", "rayleigh", "maxwell", "invgamma",
    "invgauss", "skewnorm", "truncnorm", "halfnorm", "genextreme", "genpareto", "arcsine", "cosine", "powerlaw",
)  # fmt: skip
SEVERAL = ("multivariate_normal", "multivariate_t")


class Densities(Field[Any]):
    """A dict of label: density, or a list of densities."""

    def write(self, value: Any, out: Outgoing, at: str) -> Any:
        labelled = isinstance(value, Mapping)
        listed = list(value.values()) if labelled else list(value)
        return {
            "labels": Labels().write(np.array(list(value)), out, f"{at}.labels") if labelled else None,
            "densities": [_written(each, out, f"{at}.{i}") for i, each in enumerate(listed)],
        }

    def read(self, node: Any, file: Incoming, at: str) -> Any:
        if not isinstance(node, dict) or node.keys() != {"labels", "densities"}:
            raise damaged(at, "has no densities")
        if not isinstance(node["densities"], list):
            raise damaged(at, "is no list of densities")
        listed = [_read(each, file, f"{at}.{i}") for i, each in enumerate(node["densities"])]
        if node["labels"] is None:
            return listed
        labels = Labels().read(node["labels"], file, f"{at}.labels")
        if len(labels) != len(listed):
            raise damaged(at, "has not a density for each label")
        return dict(zip(labels.tolist(), listed, strict=True))


def _written(density: Any, out: Outgoing, at: str) -> Any:
    from scipy import stats

    own, kind = getattr(density, "dist", None), type(density)
    name = getattr(own, "name", None) or kind.__name__.removesuffix("_frozen")
    if name in CONTINUOUS and own.__class__ is getattr(stats, name).__class__:
        numbers = {**{str(i): each for i, each in enumerate(density.args)}, **density.kwds}
    elif name in SEVERAL and kind is type(getattr(stats, name)(np.zeros(2), np.eye(2))):
        places = ("mean", "cov") if name == "multivariate_normal" else ("loc", "shape", "df")
        numbers = {place: getattr(density, place) for place in places}
    else:
        raise ModelFileError(
            f"'{at}' is {kind.__name__}, which a model file does not hold: it has distributions of scipy.stats by "
            f"their names, {name_list([*CONTINUOUS, *SEVERAL], 99)}. Use one of these, or pickle the model."
        )
    arrays = {place: np.asarray(each, dtype=np.float64) for place, each in numbers.items()}
    found = {place: Array(_letters(each)).write(each, out, f"{at}.{place}") for place, each in arrays.items()}
    return {"distribution": name, "numbers": found}


def _letters(array: np.ndarray[Any, Any]) -> str:
    return " ".join("*" * array.ndim)


def _read(node: Any, file: Incoming, at: str) -> Any:
    from scipy import stats

    if (
        not isinstance(node, dict)
        or node.keys() != {"distribution", "numbers"}
        or not isinstance(node["numbers"], dict)
    ):
        raise damaged(at, "is no density")
    name = node["distribution"]
    if name not in CONTINUOUS + SEVERAL:
        raise damaged(at, "is none of the known distributions")
    Texts().read(list(node["numbers"]), file, at)
    found = {place: Value().read(each, file, f"{at}.{place}") for place, each in node["numbers"].items()}
    if not all(isinstance(each, np.ndarray) and each.dtype == np.float64 for each in found.values()):
        raise damaged(at, "has numbers of another type")
    if not all(np.isfinite(each).all() for each in found.values()):
        raise damaged(at, "has NaN or infinity")
    single = {place: each if each.ndim else float(each) for place, each in found.items()}
    args = [single.pop(place) for place in map(str, range(len(found))) if place in single]
    density = getattr(stats, name)(*args, **single)
    if name in CONTINUOUS and not all(isinstance(each, float) for each in (*args, *single.values())):
        raise damaged(at, "has several numbers in the place of one")
    if np.isnan(density.pdf(np.zeros(getattr(density, "dim", 1)))).any():
        raise damaged(at, "has numbers that the distribution cannot have")
    return density
