"""How rows change weights: the loss, the rate and the penalty, as the kernels take them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discrim.kernels.online.reference import LOSSES, PENALTIES, RATES, UPDATES, Settings


@dataclass(frozen=True)
class Learning:
    """One row x of class y = -1 or 1 at time t, with eta = w'x + b, changes w and b.

    - update "gradient": w -= rate loss'(eta) x, then the penalty alpha (l1_ratio |w|_1 + (1 - l1_ratio) |w|^2 / 2)
      shrinks w; b likewise, times ``intercept_step`` (0: no intercept), without the penalty. The rate is eta0
      ("constant", "adaptive"), eta0 / (start + t)^power ("invscaling"), 1 / (alpha (t0 + t)) ("optimal"), or, with the
      hinge loss, what the margin asks for, at most eta0 ("pa1") or softened by it ("pa2").
      With ``cap`` > 0 the rate times 1 + |x|^2 is at most that.
    - update "best_class": all classes compete; a row that another class wins moves its own up and the winner down.
    - update "confidence": AROW with r = eta0.

    From the time ``average`` on (0: never) the mean of all weights is kept too. ``losses`` asks for losses and norms.
    """

    update: str = "gradient"
    loss: str = "hinge"
    rate: str = "optimal"
    penalty: str | None = "l2"
    alpha: float = 1e-4
    l1_ratio: float = 0.15
    eta0: float = 0.01
    power: float = 0.5
    epsilon: float = 0.1
    start: float = 0.0
    cap: float = 0.0
    intercept_step: float = 1.0
    average: float = 0.0
    losses: bool = True

    @property
    def needs_second(self) -> bool:
        """Is there a second number for every weight: what L1 has taken from it, or its variance?"""
        return self.update == "confidence" or self.penalty in {"l1", "elasticnet"}

    @property
    def packed(self) -> Settings:
        names = (
            UPDATES.index(self.update),
            LOSSES.index(self.loss),
            RATES.index(self.rate),
            PENALTIES.index(self.penalty),
        )
        # "optimal" begins at the time at which its rate is the size that weights typically have.
        start = 1.0 / (self.alpha * self.alpha**-0.25) if self.rate == "optimal" else self.start
        numbers = [self.alpha, self.l1_ratio, self.eta0, self.power, self.epsilon, start]
        return names, np.array([*numbers, self.intercept_step, self.average, self.cap]), self.losses
