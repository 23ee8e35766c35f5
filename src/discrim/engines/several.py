"""The objective at several points of a path in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim import kernels
from discrim.block import Block
from discrim.engines.objective import Coordinates, Objective, codes_in
from discrim.engines.threads import reduce_blocks
from discrim.kernels.reference_coordinate import SEVERAL
from discrim.sources import Rows
from discrim.statistics.likelihood import GRADIENT, Likelihood
from discrim.typing import Floats

Several = tuple[Floats, Floats]


class PathObjective(Objective):
    """An objective that may keep to the calling thread ``alone``, and reads rows once for up to SEVERAL thetas."""

    def __init__(
        self,
        rows: Rows,
        classes: NDArray[Any],
        coordinates: Coordinates,
        *,
        softmax: bool = False,
        alone: bool = False,
    ) -> None:
        super().__init__(rows, classes, coordinates, softmax=softmax)
        self.alone = alone and rows.whole is not None
        sparse = rows.whole is not None and not isinstance(rows.whole.x, np.ndarray)
        self.together = not softmax and not sparse and coordinates.basis is None

    def at(
        self, theta: Floats, *, depth: int = GRADIENT, along: Floats | None = None, steps: Sequence[float] = ()
    ) -> Likelihood:
        if not self.alone:
            return super().at(theta, depth=depth, along=along, steps=steps)
        self.passes += 1
        assert self.rows.whole is not None
        line = None if along is None else self._raw(along)
        sums = self._of(self._raw(theta), line, np.asarray(steps, float), depth, self.rows.whole)
        return self._as_solver_sees(sums, depth)

    def slopes(self, thetas: Floats) -> Several:
        """Losses (m) and gradients (m x theta's size) at the rows of ``thetas``: one pass for every SEVERAL of them."""
        if not self.together:
            sums = [self.at(theta.reshape(self.shape), depth=GRADIENT) for theta in thetas]
            return np.array([each.loss for each in sums]), np.stack([each.gradient.ravel() for each in sums])
        if len(thetas) <= SEVERAL:
            return self._together(thetas)
        parts = [self._together(thetas[i : i + SEVERAL]) for i in range(0, len(thetas), SEVERAL)]
        losses, gradients = zip(*parts, strict=True)
        return np.concatenate(losses), np.concatenate(gradients)

    def _together(self, thetas: Floats) -> Several:
        self.passes += 1
        c, count = self.coordinates, len(thetas)
        raw = np.zeros((SEVERAL, len(c.scale) + 1))
        np.divide(thetas[:, int(c.intercept) :], c.scale, out=raw[:count, 1:])
        if c.intercept:
            raw[:count, 0] = thetas[:, 0]
        of = partial(self._several, raw)
        whole = self.rows.whole
        losses, gradients = of(whole) if self.alone and whole is not None else reduce_blocks(self.rows, of, _added)
        inside = gradients[:count, int(not c.intercept) :]
        inside[:, int(c.intercept) :] /= c.scale
        return losses[:count], inside

    def _several(self, raw: Floats, block: Block) -> Several:
        assert isinstance(block.x, np.ndarray)
        codes, response = codes_in(block, self.classes), (block.share, block.weight, block.offset)
        return kernels.several_gradients(block.x, codes, *response, self.coordinates.shift, raw)


def _added(parts: Sequence[Several]) -> Several:
    losses, gradients = zip(*parts, strict=True)
    return np.asarray(sum(losses)), np.asarray(sum(gradients))
