"""Densities: what is believed of a probability, and classes with the regions where each is answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from discrim.errors import ParameterError, plural
from discrim.plots.boundaries import DASHES, named_models
from discrim.plots.given import checked, numbers_in
from discrim.plots.lettering import shortened
from discrim.plots.style import SMALL, TEXT, WIDTH, Look, canvas, keyed, noted, panels, titled
from discrim.typing import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@checked
def beta(beliefs: Any, *, level: float | None = None, ax: Axes | None = None, style: str | None = None) -> Axes:
    """Densities of Beta distributions of a probability, such as a prior and its posterior.

    Parameters
    ----------
    beliefs : (a, b), or an object with a and b such as ``BetaPosterior``; or a dict of name to such
    level : shades the equal-tailed interval of this probability

    Examples
    --------
    >>> from discrim import plots
    >>> axes = plots.beta({"prior": (2, 2), "after 3 of 20": (5, 19)}, level=0.95)
    """
    named = {name: _ab(belief) for name, belief in named_models(_single(beliefs)).items()}
    ax, look = canvas(ax, style)
    at = np.linspace(0, 1, 1001)
    top = 0.0
    for i, (name, (a, b)) in enumerate(named.items()):
        with np.errstate(divide="ignore", invalid="ignore"):
            height = np.exp(special.xlogy(a - 1, at) + special.xlog1py(b - 1, -at) - special.betaln(a, b))
        label = f"{shortened(name, 20)}: Beta({a:g}, {b:g})" if name else f"Beta({a:g}, {b:g})"
        ax.plot(at, height, color=look.colour(i), linestyle=DASHES[i % len(DASHES)], linewidth=1.8, label=label)
        inner = height[20:-20]
        top = max(top, float(inner[np.isfinite(inner)].max()))
        if level is not None:
            low, high = special.betaincinv(a, b, [0.5 * (1 - level), 0.5 * (1 + level)])
            here = (at >= low) & (at <= high)
            ax.fill_between(at[here], height[here], color=look.tint(i, 0.3), linewidth=0, zorder=0)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1.08 * top)
    titled(ax, None, "probability", "density")
    keyed(ax, look)
    if level is not None:
        noted(ax, look, f"shaded: equal-tailed intervals of {level:.0%}")
    return ax


@checked
def predictive(beliefs: Any, n: int = 10, *, ax: Axes | None = None, style: str | None = None) -> Axes:
    """How many successes are to be expected in n trials: bars of beta-binomial distributions, or of plug-in binomials.

    Parameters
    ----------
    beliefs : dict of name to (a, b), to an object with a and b, or to a number, the probability that is plugged in

    Examples
    --------
    >>> from discrim import plots
    >>> axes = plots.predictive({"prior": (2, 2), "posterior": (5, 19), "plug-in": 3 / 20}, 10)
    >>> round(float(axes.patches[0].get_height()), 4)
    0.0385
    """
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise ParameterError.bad_value("n", n, "a number of trials, at least 1")
    named = named_models(_single(beliefs))
    ax, look = canvas(ax, style)
    k = np.arange(n + 1)
    width = 0.84 / len(named)
    for i, (name, belief) in enumerate(named.items()):
        height = _successes(belief, k, int(n))
        at = k + (i - 0.5 * (len(named) - 1)) * width
        ax.bar(at, height, 0.92 * width, color=look.colour(i), label=shortened(name, 24), zorder=2)
    ax.set_ylim(bottom=0)
    if n <= 20:
        ax.set_xticks(k)
    titled(ax, None, f"successes in {n} trials", "probability")
    keyed(ax, look, None if any(named) else [])
    return ax


@checked
def dirichlet(alphas: Any, *, draws: int = 0, random_state: int = 0, style: str | None = None) -> NDArray[Any]:
    """Dirichlet distributions: the density over the triangle of three probabilities, or draws as bars.

    Parameters
    ----------
    alphas : K numbers, an object with ``alpha``, or a dict of name to such
    draws : how many draws of each are shown as bars; 0 for the density, which needs K = 3

    Gives the axes: one for each distribution, or distributions x draws.

    Examples
    --------
    >>> from discrim import plots
    >>> len(plots.dirichlet({"alpha 10": [10, 10, 10], "alpha 0.1": [0.1, 0.1, 0.1]}))
    2
    """
    named = {name: _alpha(value) for name, value in named_models(_single(alphas)).items()}
    if draws:
        return _dirichlet_draws(named, draws, random_state, style)
    wrong = [len(alpha) for alpha in named.values() if len(alpha) != 3]
    if wrong:
        raise ParameterError(
            f"A density is drawn over three probabilities; there are {wrong[0]}. Ask for draws instead: draws=8."
        )
    axes, look = panels(len(named), style)
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
    x, y = np.meshgrid(np.linspace(-0.02, 1.02, 300), np.linspace(-0.02, 0.89, 260))
    third = y / corners[2, 1]
    p = np.stack([1 - (x - 0.5 * third) - third, x - 0.5 * third, third], axis=-1)
    for i, (ax, (name, alpha)) in enumerate(zip(axes, named.items(), strict=True)):
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = ((alpha - 1) * np.log(p)).sum(axis=-1)
        inside = (p > 0.004).all(axis=-1)
        shade = np.where(inside, logs, np.nan)
        finite = np.isfinite(shade)
        height = np.full(shade.shape, np.nan)
        if np.ptp(shade[finite]) < 1e-9:
            height[finite] = 0.4
        elif (alpha >= 1).all():
            height[finite] = np.exp(shade[finite] - shade[finite].max())
        else:
            # Ranks, since densities that are infinite in the corners would leave the rest without any shade.
            height[finite] = (np.argsort(np.argsort(shade[finite])) / finite.sum()) ** 6
        colour = np.array(look.tint(i, 1.0))
        image = np.zeros((*height.shape, 4))
        image[..., :3] = colour
        image[..., 3] = np.where(finite, 0.08 + 0.85 * np.nan_to_num(height), 0.0)
        ax.imshow(image, extent=(-0.02, 1.02, -0.02, 0.89), origin="lower", interpolation="bilinear")
        ax.fill(*corners.T, fill=False, edgecolor=look.muted, linewidth=1.0)
        ax.set_axis_off()
        ax.set_xlim(-0.08, 1.08)
        ax.set_ylim(-0.12, 1.0)
        for corner, label, (dx, dy) in zip(corners, ("1", "2", "3"), ((-4, -4), (4, -4), (0, 4)), strict=True):
            ax.annotate(
                label, tuple(corner), xytext=(dx, dy), textcoords="offset points", fontsize=SMALL, color=look.ink,
                ha="center", va="bottom" if dy > 0 else "top",
            )  # fmt: skip
        ax.set_title(name or f"({', '.join(f'{a:g}' for a in alpha)})", loc="left", fontsize=TEXT, color=look.ink)
    return np.array(axes, dtype=object)


@checked
def gaussians(
    means: Sequence[float], deviations: Any = 1.0, priors: Any = None, *, labels: Sequence[str] | None = None,
    log: bool = False, posterior: bool = False, mixture: bool = False, style: str | None = None,
) -> Any:  # fmt: skip
    """Gaussian classes of one variable: pi_k f_k, the answer at each point, and the risk of a wrong one.

    Shaded is what Bayes' rule gets wrong: of each point all classes but the best; its total area is the Bayes error.
    Vertical lines are the borders. Gives axes; two with ``posterior``, which stands below.

    Parameters
    ----------
    means, deviations, priors : K numbers each, or one deviation for all; priors are equal by default
    labels : names of the classes
    log : draw log(pi_k f_k), where quadratic borders can be read off
    posterior : draw P(k | x) below
    mixture : draw the density of all classes together, the sum of pi_k f_k, as well

    Examples
    --------
    >>> from discrim import plots
    >>> axes = plots.gaussians([-1, 1])
    >>> axes.get_title(loc="left")
    'Bayes error 0.1587'
    """
    mu, sigma, pi = _gaussians_of(means, deviations, priors)
    names = [str(label) for label in (range(1, len(mu) + 1) if labels is None else labels)]
    if len(names) != len(mu):
        raise ParameterError(f"There are {plural(len(names), 'label')} for {plural(len(mu), 'class', 'classes')}.")
    low, high = float((mu - 3.6 * sigma).min()), float((mu + 3.6 * sigma).max())
    at = np.linspace(low, high, 4001)
    logs = np.log(pi) - 0.5 * ((at[:, None] - mu) / sigma) ** 2 - np.log(sigma * np.sqrt(2 * np.pi))
    best = logs.argmax(axis=1)
    borders = _crossings(at, logs, best)
    axes, look = panels(2, style, across=1, size=(WIDTH, 4.6)) if posterior else ([], None)
    if look is None:
        ax, look = canvas(None, style)
        axes = [ax]
    ax, joint = axes[0], np.exp(logs)
    for k, name in enumerate(names):
        values = logs[:, k] if log else joint[:, k]
        ax.plot(
            at, values, color=look.colour(k), linewidth=1.8, linestyle=DASHES[k % len(DASHES)], label=name, zorder=3
        )
        if not log:
            lost = np.where(best == k, 0.0, joint[:, k])
            ax.fill_between(at, lost, color=look.tint(k, 0.4), linewidth=0, zorder=1)
    if mixture:
        total = special.logsumexp(logs, axis=1)
        ax.plot(at, total if log else np.exp(total), color=look.ink, linewidth=1.2, linestyle=(0, (1, 1.5)),
                label="together", zorder=4)  # fmt: skip
    if log:
        ax.set_ylim(float(logs.max()) - 12, float(logs.max()) + 0.8)
    else:
        ax.set_ylim(bottom=0)
    # The rest of a row's probability, integrated over the line; beyond the picture nothing is left.
    error = float(np.trapezoid(joint.sum(axis=1) - joint.max(axis=1), at))
    for one in axes:
        for border in borders:
            one.axvline(border, color=look.muted, linewidth=1.0, zorder=2)
        one.set_xlim(low, high)
    titled(
        ax, f"Bayes error {error:.4f}", None if posterior else "x", "log(prior x density)" if log else "prior x density"
    )
    if posterior:
        shares = np.exp(logs - special.logsumexp(logs, axis=1, keepdims=True))
        for k in range(len(names)):
            axes[1].plot(at, shares[:, k], color=look.colour(k), linewidth=1.8, linestyle=DASHES[k % len(DASHES)])
        axes[1].set_ylim(0, 1.03)
        titled(axes[1], None, "x", "posterior")
    keyed(ax, look)
    if borders:
        noted(axes[-1], look, f"borders: {', '.join(f'{border:.3f}' for border in borders)}")
    return np.array(axes, dtype=object) if posterior else ax


def _crossings(at: Floats, logs: Floats, best: Any) -> list[float]:
    """Where the best class changes, by linear interpolation of the difference, which is nearly linear over a step."""
    found = []
    for i in np.flatnonzero(np.diff(best)):
        gap = logs[i : i + 2, best[i]] - logs[i : i + 2, best[i + 1]]
        found.append(float(at[i] + (at[i + 1] - at[i]) * gap[0] / (gap[0] - gap[1])))
    return found


def _gaussians_of(means: Any, deviations: Any, priors: Any) -> tuple[Floats, Floats, Floats]:
    mu = np.atleast_1d(numbers_in("means", means, "a number for each class"))
    if mu.ndim != 1 or not len(mu):
        raise ParameterError.bad_value("means", means, "a number for each class")
    spread = numbers_in("deviations", deviations, "a number above 0 for each class, or one for all")
    sigma = spread * np.ones(len(mu)) if spread.size in {1, len(mu)} else None
    pi = np.full(len(mu), 1 / len(mu)) if priors is None else numbers_in("priors", priors, "a number for each class")
    if sigma is None or sigma.shape != mu.shape or pi.shape != mu.shape:
        raise ParameterError(f"Give {len(mu)} deviations (or one) and {len(mu)} priors for {len(mu)} means.")
    if not ((sigma > 0).all() and (pi > 0).all() and np.isfinite(mu).all()):
        raise ParameterError("Deviations and priors must be above 0, and means finite.")
    return mu, sigma, pi / pi.sum()


def _single(beliefs: Any) -> Any:
    """One belief alone, which may be a pair, is not to be taken for a list of several."""
    return beliefs if isinstance(beliefs, Mapping) else {"": beliefs}


def _ab(belief: Any) -> tuple[float, float]:
    if hasattr(belief, "a") and hasattr(belief, "b"):
        pair = float(belief.a), float(belief.b)
    else:
        values = np.ravel(numbers_in("beliefs", belief, "(a, b), or an object with a and b"))
        if len(values) != 2:
            raise ParameterError.bad_value("beliefs", belief, "(a, b), or an object with a and b")
        pair = float(values[0]), float(values[1])
    if not (pair[0] > 0 and pair[1] > 0 and np.isfinite(pair).all()):
        raise ParameterError(f"Beta({pair[0]:g}, {pair[1]:g}) has no density; a and b must be above 0.")
    return pair


def _alpha(value: Any) -> Floats:
    alpha = np.ravel(numbers_in("alphas", getattr(value, "alpha", value), "two or more numbers above 0"))
    if len(alpha) < 2 or not (alpha > 0).all() or not np.isfinite(alpha).all():
        raise ParameterError.bad_value("alphas", value, "two or more numbers above 0")
    return alpha


def _successes(belief: Any, k: Any, n: int) -> Floats:
    """Beta-binomial probabilities, or binomial ones of a number."""
    logs = special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
    if isinstance(belief, (int, float, np.number)):
        p = float(belief)
        if not 0 <= p <= 1:
            raise ParameterError.bad_value("beliefs", belief, "a probability from 0 to 1, or (a, b)")
        return np.asarray(np.exp(logs + special.xlogy(k, p) + special.xlog1py(n - k, -p)))
    a, b = _ab(belief)
    return np.asarray(np.exp(logs + special.betaln(k + a, n - k + b) - special.betaln(a, b)))


def _dirichlet_draws(named: dict[str, Floats], draws: int, seed: int, style: str | None) -> NDArray[Any]:
    rng = np.random.default_rng(seed)
    axes, look = panels(
        len(named) * draws, style, across=draws, size=(WIDTH, 0.3 + 1.15 * len(named)) if draws > 1 else None
    )
    grid = np.array(axes, dtype=object).reshape(len(named), draws)
    for i, (name, alpha) in enumerate(named.items()):
        for j in range(draws):
            _bars(grid[i, j], look, rng.dirichlet(alpha), i)
        title = name or f"({', '.join(f'{a:g}' for a in alpha)})"
        grid[i, 0].set_title(title, loc="left", fontsize=SMALL, color=look.ink)
    return grid


def _bars(ax: Any, look: Look, p: Floats, k: int) -> None:
    ax.bar(np.arange(len(p)), p, 0.86, color=look.colour(k))
    ax.set_ylim(0, 1)
    ax.set_xticks([])
    ax.set_yticks([])
