"""The online kernels said once more in NumPy: what the C++ must equal."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.kernels.reference_checks import Compressed, all_inside, check_pointers, require
from discrim.typing import Floats

# Order (or None); codes and weights (or None) of the visits.
Given = tuple[NDArray[np.int32] | None, NDArray[np.int32], Floats | None]
# The order, which is shuffled before every epoch, and its seed, or None; codes and weights (or None) of the rows.
Repeated = tuple[tuple[NDArray[np.int32], int] | None, NDArray[np.int32], Floats | None]
# At most so many epochs; the gain that counts as one (NaN: none is asked for), and how many epochs may be without; the
# least mean loss so far, and the epochs since.
Until = tuple[int, float, int, float, int]
# Update, loss, rate and penalty as numbers; alpha, l1_ratio, eta0, power, epsilon, start, intercept_step, average,
# cap; whether losses and norms are kept.
Settings = tuple[tuple[int, int, int, int], Floats, bool]
# Weights, averages, second, memory; positive codes and the gains of positive and negative rows.
State = tuple[Floats, Floats | None, Floats | None, Floats, NDArray[np.int32], Floats, Floats]

UPDATES = ("gradient", "best_class", "confidence")
LOSSES = (
    "perceptron", "hinge", "squared_hinge", "log_loss", "modified_huber", "squared_error", "huber",
    "epsilon_insensitive", "squared_epsilon_insensitive",
)  # fmt: skip
RATES = ("constant", "optimal", "invscaling", "adaptive", "pa1", "pa2")
PENALTIES = (None, "l1", "l2", "elasticnet")
# What a problem remembers beside its weights. The weights are scale * w, their average is
# (averages + average_a w) / average_b; `shrunk` is what L1 would have taken from a weight that was always there.
MEMORY = (
    "intercept", "average_intercept", "t", "eta", "shrunk", "scale", "average_a", "average_b", "square", "absolute",
    "loss", "updates", "wrong", "finite",
)  # fmt: skip
(INTERCEPT, AVERAGE_INTERCEPT, T, ETA, SHRUNK, SCALE, AVERAGE_A, AVERAGE_B, SQUARE, ABSOLUTE, LOSS, UPDATES_MADE,
 WRONG, FINITE) = range(len(MEMORY))  # fmt: skip

STEEPEST = 1e12
SMALLEST_SCALE = 1e-9


def learn_dense(x: NDArray[Any], given: Given, settings: Settings, state: State) -> None:
    """Take the rows in the order that is given; each changes the arrays of ``state`` in place. Cost: p K a row."""
    n, p = x.shape
    require(state[0].shape[1] == p, "weights and columns differ in length")
    learn_sparse((x.ravel(), np.tile(np.arange(p), n), np.arange(n + 1) * p), given, settings, state)


def learn_sparse(rows: Compressed, given: Given, settings: Settings, state: State) -> None:
    """The same for compressed rows; cost: the entries of a row, times K."""
    value, column, first = rows
    require(len(value) == len(column), "values and columns differ in length")
    check_pointers(first, len(value))
    order = _order(given, len(first) - 1)
    p, fine = state[0].shape[1], True
    _check_state(state, settings, p)
    with np.errstate(all="ignore"):
        for v, i in enumerate(order):
            part = slice(int(first[i]), int(first[i + 1]))
            if not all_inside(column[part], p):
                # The row counts as an empty one.
                part, fine = slice(0, 0), False
            _learn_row(value[part].astype(np.float64), column[part], v, given, settings, state)
    require(fine, "a column lies outside the matrix")


def learn_epochs(rows: Any, given: Repeated, settings: Settings, state: State, until: Until) -> tuple[int, float, int]:
    """Epoch after epoch of one problem, until its mean loss gains nothing any more or is not finite.

    Returns how many there were, the least mean loss, and the epochs since.
    """
    shuffled, codes, weight = given
    most, tol, patience, best, stale = until
    w, m, epochs = state[0], state[3], 0
    require(len(w) == 1, "epochs are those of one problem")
    require(shuffled is None or len(shuffled[0]) == len(codes), "order and rows differ in length")
    _order((None if shuffled is None else shuffled[0], codes, weight), len(codes))
    learn: Any = learn_dense if isinstance(rows, np.ndarray) else learn_sparse
    for epochs in range(1, most + 1):  # noqa: B007 - returned
        visits: Given = None, codes, weight
        if shuffled is not None:
            shuffle(*shuffled)
            order = shuffled[0]
            visits = order, codes[order], None if weight is None else weight[order]
        learn(rows, visits, settings, state)
        value, m[0, LOSS] = float(m[0, LOSS]) / len(codes), 0.0
        stale = stale + 1 if value > best - tol else 0
        best = min(best, value)
        if stale >= patience or not (m[0, FINITE] and np.isfinite(m[0, INTERCEPT]) and np.isfinite(w).all()):
            break
    return epochs, best, stale


class Stream:
    """Rows that come one by one, as dicts of feature to number; ``columns`` says where a feature is kept."""

    def __init__(self, settings: Settings, state: State) -> None:
        self.settings, self.state, self.learned = settings, state, 0
        self._kept: list[tuple[Floats, Any, Floats]] = []

    def learn(self, x: dict[Any, Any], columns: dict[Any, int], code: int, weight: float) -> int:
        """0; or, and nothing learned, 1: a feature has no place or is no finite number; 2: a score or weight is not."""
        if not columns.keys() >= x.keys():
            return 1
        row = self._read(x, columns)
        if row is None or not math.isfinite(sum(row[0].tolist())):
            return 1
        first, codes = np.array([0, len(row[0])], np.int32), np.array([code], np.int32)
        self._keep(row[1])
        learn_sparse((*row, first), (None, codes, np.array([weight])), self.settings, self.state)
        self.learned += 1
        w, averages, _, m, *_ = self.state
        changed = [m[:, INTERCEPT], w[:, row[1]], *([] if averages is None else [averages[:, row[1]]])]
        if m[:, FINITE].all() and all(np.isfinite(values).all() for values in changed):
            return 0
        self.undo()
        return 2

    def undo(self) -> None:
        """As it was before the row that was learned last; to be called once."""
        for array, places, before in self._kept:
            array[:, places] = before
        self.learned -= 1

    def scores(self, x: dict[Any, Any], columns: dict[Any, int], averaged: bool) -> list[float] | None:
        """The K scores by the weights or by their average, features without a place left out; None for no numbers."""
        row = self._read({name: value for name, value in x.items() if name in columns}, columns)
        if row is None:
            return None
        w, averages, _, m, *_ = self.state
        eta = w[:, row[1]] @ row[0]
        if not averaged:
            return (m[:, SCALE] * eta + m[:, INTERCEPT]).tolist()  # type: ignore[no-any-return]
        assert averages is not None
        mean = (averages[:, row[1]] @ row[0] + m[:, AVERAGE_A] * eta) / m[:, AVERAGE_B]
        return (mean + m[:, AVERAGE_INTERCEPT]).tolist()  # type: ignore[no-any-return]

    def _keep(self, places: NDArray[np.int32]) -> None:
        """What a row may change: of all columns where the scale is about to be multiplied into them."""
        m, alpha = self.state[3], float(self.settings[1][0])
        near = m[:, SCALE] * (1 - 1.01 * alpha * m[:, ETA]) <= 1.01 * SMALLEST_SCALE
        shrinks = PENALTIES[self.settings[0][3]] in {"l2", "elasticnet"}
        at: Any = slice(None) if shrinks and near.any() else places
        arrays = [(array, at) for array in self.state[:3] if array is not None]
        self._kept = [(array, j, array[:, j].copy()) for array, j in [*arrays, (m, slice(None))]]

    def _read(self, x: dict[Any, Any], columns: dict[Any, int]) -> tuple[Floats, NDArray[np.int32]] | None:
        try:
            values = np.array([value.__float__() for value in x.values()], np.float64)
        except (AttributeError, TypeError, ValueError):
            return None
        places = [columns[name] for name in x]
        if not all(hasattr(place, "__index__") for place in places):
            raise TypeError("the place of a feature is not a whole number")
        if not all(0 <= int(place) < self.state[0].shape[1] for place in places):
            return None
        return values, np.array(places, np.int32)


def _order(given: Given, n: int) -> Any:
    """The rows in the order of the visits."""
    order, codes, weight = given
    count = n if order is None else len(order)
    require(len(codes) == count, "codes and visits differ in length")
    require(weight is None or len(weight) == count, "weights and visits differ in length")
    require(order is None or all_inside(order, n), "the order names a row that is not there")
    return range(n) if order is None else order.tolist()


def _check_state(state: State, settings: Settings, p: int) -> None:
    w, averages, second, memory, positive, gain_positive, gain_negative = state
    (update, loss, rate, penalty), numbers, _ = settings
    sizes = (len(UPDATES), len(LOSSES), len(RATES), len(PENALTIES))
    there = all(0 <= i < size for i, size in zip((update, loss, rate, penalty), sizes, strict=True))
    require(there, "there is no such update, loss, rate or penalty")
    require(len(numbers) == 9, "there are nine numbers in the settings")
    require(w.shape[1] == p, "weights and columns differ in length")
    for like in (averages, second):
        require(like is None or like.shape == w.shape, "the arrays of the weights differ in shape")
    require(averages is not None or not numbers[7] > 0, "there is no room for the averages")
    needed = UPDATES[update] == "confidence" or PENALTIES[penalty] in {"l1", "elasticnet"}
    require(second is not None or not needed, "there is no room for the second array")
    require(memory.shape == (len(w), len(MEMORY)), "memory has the wrong shape")
    same = len(positive) == len(gain_positive) == len(gain_negative) == len(w)
    require(same, "classes, gains and weights differ in length")


def shuffle(order: NDArray[np.int32], seed: int) -> None:
    """Fisher and Yates with Marsaglia's 32-bit generator, in place: the orders of scikit-learn's SGD."""
    n = len(order)
    for i in range(n - 1):
        seed = seed or 1
        seed ^= (seed << 13) & 0xFFFFFFFF
        seed ^= seed >> 17
        seed ^= (seed << 5) & 0xFFFFFFFF
        j = i + (seed & 0x7FFFFFFF) % (n - i)
        order[i], order[j] = order[j], order[i]


def slope_and_loss(name: str, y: float, eta: float, epsilon: float) -> tuple[float, float]:
    """The slope in eta and the value of a loss, for y of -1 or 1."""
    z, r = y * eta, eta - y
    left = abs(r) - epsilon
    match name:
        case "perceptron":
            return (-y, -z) if not z > 0 else (0.0, 0.0)
        case "hinge":
            return (-y, 1 - z) if not z > 1 else (0.0, 0.0)
        case "squared_hinge":
            return (-2 * y * (1 - z), (1 - z) ** 2) if not z >= 1 else (0.0, 0.0)
        case "log_loss":
            e = math.exp(-abs(z))
            return -y * (e if z > 0 else 1.0) / (1 + e), max(-z, 0.0) + math.log1p(e)
        case "modified_huber":
            if z >= 1:
                return 0.0, 0.0
            return (-2 * y * (1 - z), (1 - z) ** 2) if z >= -1 else (-4 * y, -4 * z)
        case "squared_error":
            return r, 0.5 * r * r
        case "huber":
            return (r, 0.5 * r * r) if left <= 0 else (math.copysign(epsilon, r), epsilon * (abs(r) - 0.5 * epsilon))
        case "epsilon_insensitive":
            return (0.0, 0.0) if left <= 0 else (math.copysign(1.0, r), left)
        case _:
            return (0.0, 0.0) if left <= 0 else (math.copysign(2 * left, r), left * left)


def _learn_row(x: Floats, at: NDArray[Any], v: int, given: Given, settings: Settings, state: State) -> None:
    code, weight = int(given[1][v]), 1.0 if given[2] is None else float(given[2][v])
    update = UPDATES[settings[0][0]]
    if update == "best_class":
        _by_best_class(x, at, code, weight, settings, state)
        return
    for k, positive in enumerate(state[4].tolist()):
        y = 1.0 if code == positive else -1.0
        gain = weight * float(state[5][k] if y > 0 else state[6][k])
        if update == "gradient":
            _by_gradient(x, at, y, gain, settings, state, k)
        else:
            _by_confidence(x, at, y, gain, settings, state, k)


def _by_gradient(x: Floats, at: NDArray[Any], y: float, gain: float, settings: Settings, state: State, k: int) -> None:
    """One step against the slope of the loss, then the penalty."""
    (_, loss_number, rate_number, penalty_number), (alpha, l1_ratio, eta0, _, epsilon, *_, cap), losses = settings
    rate_name, penalty = RATES[rate_number], PENALTIES[penalty_number]
    w, second, m = state[0][k], state[2], state[3][k]
    eta = m[SCALE] * float(x @ w[at]) + m[INTERCEPT]
    _note(m, y, eta)
    rate = m[ETA] = _rate(settings, m)
    if cap > 0:
        # The constant counts as a column.
        rate = min(rate, cap / (1 + float(x @ x)))
    share = {"l2": 0.0, "l1": 1.0}.get(penalty or "", l1_ratio)
    slope, loss = slope_and_loss(LOSSES[loss_number], y, eta, epsilon)
    m[LOSS] += loss
    passive = rate_name in {"pa1", "pa2"}
    if losses and penalty and not passive:
        m[LOSS] += alpha * ((1 - share) * 0.5 * m[SQUARE] + share * m[ABSOLUTE])
    if passive:
        length = float(x @ x)
        if not math.isfinite(length):
            # A row that is too long to be squared would change nothing, silently.
            m[FINITE] = 0
        if rate_name == "pa1" and length == 0:
            return
        step = y * (min(eta0, loss / length) if rate_name == "pa1" else loss / (length + 0.5 / eta0))
    else:
        step = -rate * min(max(slope, -STEEPEST), STEEPEST)
    if penalty in {"l2", "elasticnet"}:
        kept = max(0.0, 1 - (1 - share) * rate * alpha)
        m[[SCALE, SQUARE, ABSOLUTE]] *= [kept, kept * kept, kept]
        if m[SCALE] < SMALLEST_SCALE:
            settle(w, None if state[1] is None else state[1][k], m)
    _move(x, at, step * gain, settings, state, k)
    if penalty in {"l1", "elasticnet"}:
        assert second is not None
        m[SHRUNK] += share * rate * alpha
        _truncate(w, second[k], at, m)
    m[T] += 1


def _by_best_class(x: Floats, at: NDArray[Any], code: int, weight: float, settings: Settings, state: State) -> None:
    """All classes compete: a row that another class wins (or ties) moves its own class up and the winner down."""
    w, memory, positive = state[0], state[3], state[4]
    eta = memory[:, SCALE] * (w[:, at] @ x) + memory[:, INTERCEPT]
    if not np.isfinite(eta).all():
        memory[:, FINITE] = 0
    own = int(np.flatnonzero(positive == code)[0])
    best = int(np.argmax(np.where(positive == code, -np.inf, eta)))
    wrong = len(positive) > 1 and not eta[own] > eta[best]
    if wrong:
        memory[own, WRONG] += 1
        memory[own, LOSS] += eta[best] - eta[own]
    for k, m in enumerate(memory):
        rate = m[ETA] = _rate(settings, m)
        sign = 0.0 if not wrong else 1.0 if k == own else -1.0 if k == best else 0.0
        _move(x, at, sign * rate * weight * float(state[5][own]), settings, state, k)
        m[T] += 1


def _by_confidence(
    x: Floats, at: NDArray[Any], y: float, gain: float, settings: Settings, state: State, k: int
) -> None:
    """Diagonal AROW: w is Gaussian with variances v; a row within the margin moves it most where v is large.

    eta0 is r, and a row of weight c counts as r / c; the variance of the intercept is kept in ``eta``.
    """
    _, (_, _, r, _, _, _, intercept_step, *_), _ = settings
    second, m = state[2], state[3][k]
    assert second is not None
    w, v = state[0][k], second[k]
    eta = float(x @ w[at]) + m[INTERCEPT]
    _note(m, y, eta)
    m[T] += 1
    left = 1 - y * eta
    if not left > 0 or gain == 0:
        return
    m[LOSS] += left
    m[UPDATES_MADE] += 1
    constant = intercept_step * m[ETA]
    spread = float((x * x) @ v[at])
    if not math.isfinite(spread):
        m[FINITE] = 0
    b = 1 / (spread + constant + r / gain)
    vx = v[at] * x
    w[at] += left * b * y * vx
    v[at] -= b * vx * vx
    m[INTERCEPT] += left * b * y * constant
    m[ETA] -= b * constant * constant


def _note(m: Floats, y: float, eta: float) -> None:
    m[WRONG] += y * eta <= 0
    if not math.isfinite(eta):
        m[FINITE] = 0


def _rate(settings: Settings, m: Floats) -> float:
    alpha, _, eta0, power, _, start, *_ = settings[1].tolist()
    match RATES[settings[0][2]]:
        case "optimal":
            return float(1 / (alpha * (start + m[T] - 1)))
        case "invscaling":
            return float(eta0 / (start + m[T]) ** power)
        case _:
            return float(m[ETA])


def _move(x: Floats, at: NDArray[Any], step: float, settings: Settings, state: State, k: int) -> None:
    w, averages, m = state[0][k], state[1], state[3][k]
    intercept_step, average = settings[1][6:8].tolist()
    if step != 0:
        w[at] += step / m[SCALE] * x
        if settings[2] and PENALTIES[settings[0][3]]:
            m[SQUARE] = float(w[at] @ w[at]) * m[SCALE] ** 2
            m[ABSOLUTE] = float(np.abs(w[at]).sum()) * m[SCALE]
        m[INTERCEPT] += step * intercept_step
        m[UPDATES_MADE] += 1
    if averages is not None and 0 < average <= m[T]:
        count = m[T] - average + 1
        averages[k, at] -= m[AVERAGE_A] * step / m[SCALE] * x
        if count > 1:
            m[AVERAGE_B] *= count / (count - 1)
        m[AVERAGE_A] += m[AVERAGE_B] * m[SCALE] / count
        m[AVERAGE_INTERCEPT] += (m[INTERCEPT] - m[AVERAGE_INTERCEPT]) / count


def _truncate(w: Floats, q: Floats, at: NDArray[Any], m: Floats) -> None:
    """Draw weights towards zero by what L1 owes them, but not across. q is what they were given so far."""
    before, owed, scale = w[at], m[SHRUNK], m[SCALE]
    down = np.maximum(0.0, before - (owed + q[at]) / scale)
    up = np.minimum(0.0, before + (owed - q[at]) / scale)
    w[at] = np.where(scale * before > 0, down, np.where(scale * before < 0, up, before))
    q[at] += scale * (w[at] - before)


def settle(w: Floats, averages: Floats | None, m: Floats) -> None:
    """Write the weights of a problem and their average out, so that the scale is one again."""
    if averages is not None:
        averages[:] = (averages + m[AVERAGE_A] * w) / m[AVERAGE_B]
        m[[AVERAGE_A, AVERAGE_B]] = 0.0, 1.0
    w *= m[SCALE]
    m[SCALE] = 1.0
