"""A toy model, in full: classes that are balls of one size, which is given or chosen among a few."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discrim.families.recipe import EachSetting, Recipe, Search, Solved
from discrim.families.rule import LinearRule
from discrim.inference.summary import Summary, Table
from discrim.models.parameters import either, number, one_of
from discrim.models.registry import Entry
from discrim.models.shell import RecipeClassifier
from discrim.statistics import Depth, MomentsOf


@dataclass(frozen=True, eq=False)
class BallRecipe(Recipe):
    """x | class k ~ N(mu_k, v I): the largest log pi_k - |x - mu_k|^2 / 2v."""

    size: Any = 1.0

    def reduction(self, shape, like=None):
        return MomentsOf(Depth.DIAGONAL)

    def estimate(self, statistic, shape, passes):
        weight, v = statistic.weight, float(self.size)
        origin = weight @ statistic.mean / weight.sum()
        away = np.where(weight[:, None] > 0, statistic.mean - origin, 0.0)
        with np.errstate(divide="ignore"):
            offset = np.log(weight / weight.sum()) - np.square(away).sum(axis=1) / (2.0 * v)
        return Solved(LinearRule(away / v, offset, origin), statistic, {"centres_": statistic.mean, "size_": v})

    def search(self):
        return Search("cv", 4) if self.size == "cv" else None

    def grid(self, statistic):
        settings = [{"size": 4.0**i} for i in range(4, -3, -1)]
        return EachSetting(replace(self, size=1.0), settings, MomentsOf(Depth.DIAGONAL))


class BallClassifier(RecipeClassifier):
    """Parameters, a recipe and a summary: all that an estimator adds."""

    _constraints = {"size": either(number(1e-9), one_of("cv"))}  # noqa: RUF012 - a toy

    def __init__(self, size=1.0):
        self.size = size

    def recipe(self):
        return BallRecipe(self.size)

    def _summarise(self):
        labels = [str(label) for label in self.classes_]
        return Summary("Balls", {"Size": self.size_}, [Table("Centres", labels, self._names, self.centres_)])


ENTRY = Entry("Balls", BallClassifier, lambda _: BallClassifier("cv"), cost=0.5, tuning="grid")
