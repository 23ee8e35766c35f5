"""The five lectures: their items, in their order. The list of ids is nowhere else."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module

from discrim.gallery.item import Item


@dataclass(frozen=True)
class Lecture:
    """A page of the gallery."""

    name: str
    file: str
    about: str
    items: tuple[Item, ...]


PAGES = (
    ("Chicago", "Linear and quadratic rules, Fisher's discriminant, logistic regression, perceptron, naive Bayes",
     ("chicago", "chicago_rules")),
    ("Notes", "The geometry of linear discriminant analysis", ("notes",)),
    ("Laval", "Linear discriminants by descent: perceptron, least squares, logistic; several classes; basis functions",
     ("laval", "laval_schemes")),
    ("Oxford", "Decision theory, LDA and QDA on iris and crabs, Bayesian methods, logistic regression on spam, ROC",
     ("oxford", "oxford_bayes", "oxford_logistic")),
    ("Rome", "Discriminant functions, outliers, Fisher's linear discriminant, perceptron", ("rome",)),
)  # fmt: skip


@cache
def lectures() -> tuple[Lecture, ...]:
    """All lectures with their items."""
    found = []
    for name, about, modules in PAGES:
        items = [item for module in modules for item in import_module(f"discrim.gallery.{module}").ITEMS]
        found.append(Lecture(name, f"{name.lower()}.html", about, tuple(items)))
    return tuple(found)
