"""The folds of a comparison: dealt by a seeded shuffle within each class; copies and groups stay together."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from discrim.block import Block
from discrim.errors import DataError, FewRowsWarning, ParameterError, name_list, plural, warn
from discrim.sources import code_labels
from discrim.sources.labels import MissingLabelsError
from discrim.statistics.folds import Folds, fold_numbers
from discrim.typing import Codes, Floats, Index

# Numbers of X that are hashed at once.
CHUNK = 1 << 20
# Folds up to which all pairs of them are looked at.
FEW_FOLDS = 20
# Units that are dealt one by one; more of them even out by themselves.
MANY_UNITS = 5000
MOST_NAMED = 3


@dataclass(frozen=True, eq=False)
class Dealer:
    """What folds are dealt by: ``codes`` of classes, ``units`` of rows that stay together (None: each row by itself).

    They may be the user's groups, of these ``names``, which are never split. With ``times``, ranks of the rows, folds
    are stretches of time.
    """

    codes: NDArray[np.int32]
    units: Index | None = None
    names: NDArray[Any] | None = None
    seed: Any = 0
    times: Index | None = None

    @property
    def grouped(self) -> bool:
        return self.names is not None

    def deal(self, folds: int) -> NDArray[np.int32]:
        """The fold of each row."""
        if self.times is not None:
            upto = np.cumsum(np.bincount(self.times))
            return np.asarray(((upto - 1) * folds // upto[-1])[self.times], dtype=np.int32)
        order = check_random_state(self.seed).permutation(len(self.codes))
        if self.units is None:
            # The rows of one class after the other, in shuffled order, to the folds in turn.
            number = np.empty(len(order), dtype=np.int32)
            number[order[np.argsort(self.codes[order], kind="stable")]] = np.arange(len(order)) % folds
            return number
        return _dealt_together(self.codes, self.units, order, folds, whole=self.grouped)

    def take(self, rows: Index) -> Dealer:
        """The same for some of the rows."""
        units = None if self.units is None else np.unique(self.units[rows], return_inverse=True)[1]
        times = None if self.times is None else np.unique(self.times[rows], return_inverse=True)[1]
        return Dealer(self.codes[rows], units, self.names, self.seed, times)

    def fewer(self, folds: int) -> int:
        """As many folds as these rows allow, up to so many."""
        most = int(np.bincount(self.codes).max())
        if self.grouped:
            assert self.units is not None
            most = min(most, int(self.units.max()) + 1)
        if self.times is not None:
            most = min(most, int(self.times.max()) + 1)
        return min(folds, most)

    def inner(self, folds: int) -> Folds | None:
        """So many folds or fewer; None where there are not even three."""
        count = self.fewer(folds)
        return None if count < 3 else numbered(self.deal(count))


def make_folds(cv: Any, dealer: Dealer, classes: NDArray[Any], groups: Any) -> tuple[Folds, list[str]]:
    """The folds that ``cv`` asks for, and what there is to say about them."""
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        return _counted(int(cv), dealer, classes)
    if dealer.grouped and isinstance(cv, str) and cv == "loo":
        raise ParameterError(
            "cv='loo' holds out single rows, which splits the groups. Use a number of folds, or LeaveOneGroupOut()."
        )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        warnings.filterwarnings("ignore", "The groups parameter is ignored", UserWarning)
        folds = fold_numbers(cv, dealer.codes, groups)
    if dealer.grouped:
        _refuse_split_groups(folds, dealer)
    return folds, []


def how_dealt(cv: Any, dealer: Dealer) -> str:
    """The folds in words."""
    kept = "" if dealer.units is None else f", {'groups' if dealer.grouped else 'equal rows'} kept together"
    if isinstance(cv, (int, np.integer)):
        seed = "no fixed seed" if dealer.seed is None else f"seed {dealer.seed}"
        return f"dealt by a shuffle of the rows of each class ({seed}){kept}"
    return "one row at a time" if isinstance(cv, str) else "as they were given"


def check_classes(labelled: Block) -> None:
    """Refuse labels that models cannot be compared on."""
    if not len(labelled):
        raise DataError("There are no rows to compare models on.")
    if len(labelled.classes) < 2:
        only = name_list(labelled.classes)
        raise DataError(f"y has only the class {only}; a comparison needs at least two classes.")


def _counted(asked: int, dealer: Dealer, classes: NDArray[Any]) -> tuple[Folds, list[str]]:
    sizes = np.bincount(dealer.codes)
    if asked < 2:
        raise ParameterError.bad_value("cv", asked, "at least 2 folds, 'loo' or a splitter")
    if sizes.max() < 2:
        raise DataError(f"Every class has a single row; {plural(len(dealer.codes), 'row')} cannot be split into folds.")
    count, k = dealer.fewer(asked), int(sizes.argmin())
    if sizes[k] < count:
        unknown = "; the model that predicts it has not seen its class" if sizes[k] == 1 else ""
        rows = plural(int(sizes[k]), "row")
        warn(
            f"Class '{classes[k]}' has {rows} for {count} folds, so its figures are uncertain{unknown}.", FewRowsWarning
        )
    folds = numbered(dealer.deal(count))
    if len(folds.parts) == asked:
        return folds, []
    why = f"the largest class has {plural(int(sizes.max()), 'row')}"
    if dealer.names is not None:
        why = f"there are {len(dealer.names)} groups"
    return folds, [f"There are {len(folds.parts)} folds instead of {asked:,}, because {why}."]


def numbered(fold: NDArray[np.int32]) -> Folds:
    """Folds without gaps in their numbers, each trained on all other rows."""
    used, number = np.unique(fold, return_inverse=True)
    return Folds(number.astype(np.int32), (None,) * len(used))


def of_classes_in_one_group(names: NDArray[Any], units: Index, classes: NDArray[Any], codes: Codes) -> list[str]:
    """What to say of classes that a fold takes away with their only group; an error where that goes for all but one."""
    pairs = np.unique(np.column_stack([codes, units]), axis=0)
    alone = [(k, int(pairs[pairs[:, 0] == k, 1][0])) for k in np.flatnonzero(np.bincount(pairs[:, 0]) == 1)]
    if not alone:
        return []
    shown = ", ".join(f"'{classes[k]}' in '{names[g]}'" for k, g in alone[:MOST_NAMED])
    if len(alone) >= len(classes) - 1:
        raise DataError(
            f"The groups hold whole classes ({shown}): a model that has not seen a group has not seen its class. "
            "Groups are what rows have in common beside their class, such as a person; every class needs two or more."
        )
    are = "One class is" if len(alone) == 1 else f"{len(alone)} classes are"
    return [f"{are} in a single group ({shown}): no model judged there has seen it, so all its rows are errors."]


def code_groups(groups: Any, n: int) -> tuple[NDArray[Any], Index]:
    """The groups and a number for each row; an error for missing values, another length, or a single group."""
    names, codes, missing = _distinct(groups)
    if missing:
        raise DataError(
            f"groups holds {plural(missing, 'missing value')}. Say which group these rows belong to, or give each of "
            "them a group of its own."
        )
    if len(codes) != n:
        raise DataError(f"groups must have one value for each of the {plural(n, 'row')}; found {len(codes)}.")
    if len(names) < 2:
        raise DataError(
            f"All rows belong to the group {name_list(names)}; folds that keep groups together need two at least."
        )
    return names, codes.astype(np.intp)


def code_times(time: Any, n: int) -> Index:
    """The rank of each row's time, equal ones alike; an error for missing values, another length, or a single time."""
    values = np.asarray(time)
    if values.shape != (n,):
        found = " x ".join(map(str, values.shape)) or "a single value"
        raise DataError(
            f"time must have one value for each of the {plural(n, 'row')} that are compared; found {found}."
        )
    missing = int(_no_times(values).sum())
    if missing:
        raise DataError(f"time holds {plural(missing, 'missing value')}. Leave these rows out, or say when they were.")
    try:
        ranks = np.unique(values, return_inverse=True)[1]
    except TypeError:
        raise DataError("time holds values that cannot be ordered. Convert them to numbers or dates.") from None
    if ranks.max() < 2:
        raise DataError(f"time has only {plural(int(ranks.max()) + 1, 'different value')}; folds in its order need 3.")
    return ranks.astype(np.intp)


def _no_times(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Only what is missing differs from itself."""
    none = np.array([value is None for value in values.tolist()], dtype=bool)
    return np.asarray(none | np.not_equal(values, values).astype(bool))


def _distinct(groups: Any) -> tuple[NDArray[Any], NDArray[Any], int]:
    """Distinct values, codes and how many are missing; unlike labels, groups may be any numbers or dates."""
    values = np.asarray(groups)
    if values.ndim == 1 and values.dtype.kind in "fmM":
        return *np.unique(values, return_inverse=True), int(np.isnan(values).sum())
    try:
        return *code_labels(groups), 0
    except MissingLabelsError as error:
        return values, values, error.count


def vary_without_two(x: Floats, codes: Codes, folds: Folds) -> bool:
    """Does every column vary within some class in the rows of all folds but two, whichever these are? O(n p)."""
    parts, k = np.unique(folds.number), int(codes.max()) + 1
    if len(parts) > FEW_FOLDS:
        return True
    low = np.full((len(parts), k, x.shape[1]), np.inf)
    high = -low
    for f, part in enumerate(parts):
        for g in range(k):
            rows = np.flatnonzero((folds.number == part) & (codes == g))
            if len(rows):
                values = x[rows]
                low[f, g], high[f, g] = values.min(axis=0), values.max(axis=0)
    for without in combinations(range(len(parts)), min(2, len(parts) - 1)):
        left = np.delete(np.arange(len(parts)), without)
        if not (high[left].max(axis=0) > low[left].min(axis=0)).any(axis=0).all():
            return False
    return True


def find_copies(x: Any) -> Index | None:
    """A number for each distinct row of X; None where no row occurs twice.

    Missing values are equal to each other here. Rows are compared by hashes of 64 bits: that two different rows have
    the same one is unlikely, and they would merely be in one fold.
    """
    hashes, unit = np.unique(_row_hashes(x), return_inverse=True)
    return None if len(hashes) == x.shape[0] else unit


def _row_hashes(x: Any) -> NDArray[np.uint64]:
    factors = np.random.default_rng(0).integers(0, 2**63, size=x.shape[1], dtype=np.uint64) * 2 + 1
    if not isinstance(x, np.ndarray):
        rows = sparse.csr_array(x)
        row_of = np.repeat(np.arange(x.shape[0]), np.diff(rows.indptr))
        hashes = np.zeros(x.shape[0], dtype=np.uint64)
        np.add.at(hashes, row_of, _bits(rows.data) * factors[rows.indices])
        return hashes
    step = max(CHUNK // max(x.shape[1], 1), 1)
    parts = [(_bits(x[start : start + step]) * factors).sum(axis=1) for start in range(0, x.shape[0], step)]
    return np.concatenate(parts)


def _bits(values: NDArray[Any]) -> NDArray[np.uint64]:
    """The bits of numbers, mixed: zero is zero whatever its sign, and every NaN is the same."""
    plain = np.ascontiguousarray(values, dtype=np.float64) + 0.0
    plain[np.isnan(plain)] = np.nan
    bits = plain.view(np.uint64)
    # The low bits of short numbers are all zero, and multiplication does not bring the high ones down.
    mixed: NDArray[np.uint64] = bits ^ (bits >> np.uint64(32))
    return mixed


def _dealt_together(
    codes: NDArray[np.int32], units: Index, order: Index, folds: int, *, whole: bool
) -> NDArray[np.int32]:
    """Units of several rows first, the largest first, each to the fold that needs it most; then the single rows.

    Unless they are to stay ``whole``, units that would take more than half a fold are dealt row by row: so many equal
    rows are a frequent value, and not copies of one case.
    """
    classes = int(codes.max()) + 1
    table = np.bincount(units * classes + codes, minlength=(int(units.max()) + 1) * classes).reshape(-1, classes)
    size = table.sum(axis=1)
    together = size > 1
    if not whole:
        together &= size <= max(len(codes) // (2 * folds), 2)
    # As the shuffle has them, the largest first.
    met = units[order][np.sort(np.unique(units[order], return_index=True)[1])]
    held = met[together[met]]
    held = held[np.argsort(-size[held], kind="stable")]
    fold_of = np.full(len(size), -1, dtype=np.int32)
    fold_of[held] = _greedy(table[held], folds) if len(held) <= MANY_UNITS else _in_turn(table[held], folds)
    number = fold_of[units]
    have = np.stack([np.bincount(codes[number == f], minlength=classes) for f in range(folds)]).astype(np.float64)
    for k in range(classes):
        single = order[(codes[order] == k) & (number[order] < 0)]
        number[single] = _filled_up(have[:, k], have.sum(axis=1), len(single))
        have[:, k] += np.bincount(number[single], minlength=folds)
    return number


def _greedy(table: NDArray[Any], folds: int) -> NDArray[np.int32]:
    """The fold of each unit, one after the other to where its classes are short; ``table`` has units x classes."""
    have, total = np.zeros((folds, table.shape[1])), np.maximum(table.sum(axis=0), 1.0)
    found = np.empty(len(table), dtype=np.int32)
    for i, counts in enumerate(table):
        # What the squares of the shares of classes grow by: least where these classes are short.
        growth = ((2.0 * have + counts) * counts / total**2).sum(axis=1)
        found[i] = np.lexsort((have.sum(axis=1), growth.round(12)))[0]
        have[found[i]] += counts
    return found


def _in_turn(table: NDArray[Any], folds: int) -> NDArray[np.int32]:
    """The same for very many units: those with the same main class to the folds in turn, back and forth."""
    by_class = np.argsort(table.argmax(axis=1), kind="stable")
    turn, place = np.divmod(np.arange(len(table)), folds)
    found = np.empty(len(table), dtype=np.int32)
    found[by_class] = np.where(turn % 2 == 0, place, folds - 1 - place)
    return found


def _filled_up(have: NDArray[np.float64], rows: NDArray[np.float64], more: int) -> NDArray[np.int32]:
    """The folds of so many further rows, the emptiest first: by rows of their class, then by all rows."""
    folds = len(have)
    if not more:
        return np.empty(0, dtype=np.int32)
    most = min(more, int(np.ceil(more / folds) + have.max() - have.min()) + 1)
    level = have[:, None] + np.arange(most)
    fold, step = np.divmod(np.arange(folds * most), most)
    chosen = np.lexsort((fold, rows[fold], level[fold, step]))[:more]
    return fold[chosen].astype(np.int32)


def _refuse_split_groups(folds: Folds, dealer: Dealer) -> None:
    assert dealer.units is not None
    assert dealer.names is not None
    for f in range(len(folds.parts)):
        both = np.intersect1d(dealer.units[folds.train(f)], dealer.units[folds.test(f)])
        if len(both):
            name = dealer.names[both[0]]
            raise ParameterError(
                f"The 'cv' parameter has rows of the group '{name}' both in a training part and in its test part. "
                "Use a splitter that keeps groups together, such as StratifiedGroupKFold, or a number of folds."
            )
