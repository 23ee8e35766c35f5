"""One route for every recipe: what is shared, what is read again, and what is reported of it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

import discrim
from discrim.block import Block
from discrim.errors import CollinearWarning, DataError, SingularClassError
from discrim.evaluation import learning_curve
from discrim.evaluation.resampling import FoldStates, Trial
from discrim.families.recipe import Shape
from discrim.models.shell import recipe_of
from discrim.sources import Design
from discrim.statistics import ClassMoments, Depth, MomentsOf
from discrim.statistics.folds import fold_numbers

X, y = discrim.datasets.load_iris().xy
CODES = np.unique(y, return_inverse=True)[1].astype(np.int32)
BLOCK = Block(X, CODES, np.unique(y))
FOLDS = fold_numbers(5, CODES)


@pytest.fixture
def reductions(monkeypatch):
    """How often blocks were reduced to moments."""
    found, of = [], ClassMoments.of.__func__

    def counted(cls, block, depth):
        found.append((len(block), depth))
        return of(cls, block, depth)

    monkeypatch.setattr(ClassMoments, "of", classmethod(counted))
    return found


def test_one_pass_over_the_folds_serves_every_depth(reductions):
    states = FoldStates(BLOCK, FOLDS)
    deep = states.training(MomentsOf(Depth.FULL))
    assert len(reductions) == 5
    for depth in (Depth.POOLED, Depth.DIAGONAL):
        for f, state in enumerate(states.training(MomentsOf(depth))):
            train = FOLDS.train(f)
            expected = ClassMoments.of(BLOCK.take(train), depth)
            assert_allclose(state.scatter, expected.scatter, rtol=1e-10, atol=1e-10)
    assert len(reductions) == 5 + 10  # the expected ones
    assert states.training(MomentsOf(Depth.FULL)) is deep


def test_models_on_the_same_folds_share_their_statistics(reductions):
    states = FoldStates(BLOCK, FOLDS)
    states.training(MomentsOf(Depth.FULL))
    shape = Shape(Design.unnamed(4, np.float64), BLOCK.classes, 150)
    for model in (discrim.LinearDiscriminantAnalysis(), discrim.QuadraticDiscriminantAnalysis(), discrim.GaussianNB()):
        held = Trial(recipe_of(model), BLOCK, shape, states).run(FOLDS)
        alone = discrim.cross_validate(model, X, y, cv=5)
        assert held.route == "statistics"
        assert_allclose(held.posterior, alone.posterior, atol=1e-10)
    assert len(reductions) == 5 + 3 * 5  # once for all, and by each alone


def test_only_the_folds_whose_statistics_lost_digits_are_read_again(reductions):
    # In the training part without fold 0 two columns are nearly the same; the rows of that fold tell them apart.
    rng = np.random.default_rng(0)
    x = rng.normal(size=(150, 3))
    fold = FOLDS.number == 0
    x[:, 2] = np.where(fold, rng.normal(size=150), x[:, 0] + 1e-8 * rng.normal(size=150))
    found = discrim.cross_validate(discrim.LinearDiscriminantAnalysis(), x, y, cv=5)
    assert found.route == "refits"
    for f in range(5):
        out = found.folds == f
        model = discrim.LinearDiscriminantAnalysis().fit(x[~out], y[~out])
        assert_allclose(found.posterior[out], model.predict_proba(x[out]), atol=1e-6)


def test_what_is_found_in_several_folds_is_reported_once():
    x = np.column_stack([X, X[:, 0]])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        discrim.cross_validate(discrim.LinearDiscriminantAnalysis(), x, y, cv=5)
    assert len([w for w in caught if issubclass(w.category, CollinearWarning)]) == 1


def test_a_class_that_a_training_part_lacks_has_no_posterior_there():
    labels = np.where(np.arange(150) == 7, "rare", y)
    found = discrim.cross_validate(discrim.LinearDiscriminantAnalysis(priors=[0.2] * 3 + [0.4]), X, labels, cv="loo")
    rare = np.flatnonzero(found.classes == "rare")[0]
    assert found.posterior[7, rare] == 0
    assert_allclose(found.posterior.sum(axis=1), 1.0)


GAUSSIAN = [
    discrim.LinearDiscriminantAnalysis(), discrim.QuadraticDiscriminantAnalysis(reg_param=0.1),
    discrim.RegularizedDiscriminantAnalysis(), discrim.GaussianNB(), discrim.NearestCentroid(),
    discrim.BayesianLinearDiscriminantAnalysis(),
]  # fmt: skip


@pytest.mark.parametrize("model", GAUSSIAN, ids=str)
def test_a_training_part_with_rows_twice_is_not_taken_for_all_rows(model):
    rng = np.random.default_rng(0)
    x, labels, fold = rng.normal(size=(60, 8)), rng.integers(0, 2, 60), np.arange(60) % 3
    splits = [(rng.choice(np.flatnonzero(fold != f), 60), np.flatnonzero(fold == f)) for f in range(3)]
    found = discrim.cross_validate(model, x, labels, cv=splits)
    for train, test in splits:
        assert found.predicted[test].tolist() == clone(model).fit(x[train], labels[train]).predict(x[test]).tolist()


@pytest.mark.parametrize("cv", [5, "loo"])
@pytest.mark.parametrize("model", GAUSSIAN, ids=str)
def test_squares_that_overflow_are_an_error_wherever_they_are_summed(model, cv):
    with pytest.raises(DataError, match="overflow"):
        discrim.cross_validate(model, X * 1e200, y, cv=cv)
    with pytest.raises(DataError, match="overflow"):
        learning_curve(model, X * 1e200, y, cv=3)


@pytest.mark.parametrize("cv", [2, "loo"])
def test_rows_that_are_all_the_same_have_no_space_to_be_turned_into(cv):
    x, labels = np.ones((8, 10)), np.arange(8) % 2
    expected = {2: 0.5, "loo": 1.0}[cv]
    for model in (
        discrim.LinearDiscriminantAnalysis(shrinkage=0.3), discrim.RegularizedDiscriminantAnalysis(0.5, 0.5)
    ):  # fmt: skip
        assert discrim.cross_validate(model, x, labels, cv=cv).error == expected
    with pytest.raises(SingularClassError):
        discrim.cross_validate(discrim.QuadraticDiscriminantAnalysis(shrinkage=0.3), x, labels, cv=cv)


@pytest.mark.parametrize("cv", [5, "loo"])
@pytest.mark.parametrize(
    "model", [discrim.LinearDiscriminantAnalysis(), discrim.LogisticRegression(), discrim.GaussianNB()], ids=str
)
def test_a_class_that_a_training_part_lacks_counts_alike_for_every_model(model, cv):
    x, labels = np.vstack([X, [[9.0, 9.0, 9.0, 9.0]]]), [*y, "other"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = discrim.cross_validate(model, x, labels, cv=cv)
    assert np.flatnonzero(found.unseen).tolist() == [150]
    assert found.posterior[150, 0] == 0.0
    own = found.posterior[np.arange(150), np.searchsorted(found.classes, y)]
    assert found.log_loss == pytest.approx((np.log(152.0) - np.log(own).sum()) / 151.0)
