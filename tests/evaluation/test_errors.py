"""What cannot be cross-validated is refused in words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, LeavePOut, PredefinedSplit, ShuffleSplit, TimeSeriesSplit

from discrim import GaussianNB, LinearDiscriminantAnalysis, RidgeClassifier, cross_validate
from discrim.errors import DataError, ParameterError

BOTH = pytest.mark.parametrize("model", [LinearDiscriminantAnalysis(), LogisticRegression()], ids=repr)


@BOTH
def test_an_unknown_word_for_cv(model, ordinary):
    x, y, _, _ = ordinary
    with pytest.raises(ParameterError, match=r"'cv' parameter is 'lou'.*'loo' or a splitter"):
        cross_validate(model, x, y, "lou")


@BOTH
@pytest.mark.parametrize("cv", [ShuffleSplit(5, random_state=0), LeavePOut(2)], ids=repr)
def test_rows_held_out_twice(model, cv, ordinary):
    x, y, _, _ = ordinary
    with pytest.raises(ParameterError, match="holds some rows out twice"):
        cross_validate(model, x, y, cv)


@BOTH
@pytest.mark.parametrize(
    ("cv", "never"),
    [(TimeSeriesSplit(4), 12), (PredefinedSplit(np.r_[[-1] * 20, [0] * 20, [1] * 20]), 20)],
    ids=repr,
)
def test_rows_never_held_out(model, cv, never, ordinary):
    x, y, _, _ = ordinary
    with pytest.raises(ParameterError, match=f"never holds out {never} of the rows"):
        cross_validate(model, x, y, cv)


@BOTH
def test_a_row_twice_in_one_test_part_and_no_training_rows(model, ordinary):
    x, y, _, _ = ordinary
    twice = [(np.arange(30, 60), np.r_[0, np.arange(30)]), (np.arange(30), np.arange(30, 60))]
    with pytest.raises(ParameterError, match="holds some rows out twice"):
        cross_validate(model, x, y, twice)
    with pytest.raises(ParameterError, match="leaves no row to train on"):
        cross_validate(model, x, y, [(np.array([], int), np.arange(60))])


@BOTH
@pytest.mark.parametrize("cv", [1, 1000, GroupKFold(3), 2.5, [(np.arange(5), np.array([99]))]], ids=repr)
def test_a_number_of_folds_that_the_rows_do_not_allow(model, cv, ordinary):
    x, y, _, _ = ordinary
    with pytest.raises(ParameterError, match="'cv' parameter cannot split these 60 rows: "):
        cross_validate(model, x, y, cv)


@pytest.mark.parametrize("cv", [5, "loo"])
def test_missing_values_are_counted_by_column(cv, ordinary):
    x, y, _, _ = ordinary
    frame = pd.DataFrame(x, columns=["a", "b", "c", "d"])
    frame.loc[[3, 8], "b"] = np.nan
    frame.loc[5, "d"] = np.inf
    with pytest.raises(DataError, match="column 'b' has 2 NaN; column 'd' has 1 infinite"):
        cross_validate(GaussianNB(), frame, y, cv)


@BOTH
def test_lengths_that_differ(model, ordinary):
    x, y, weight, _ = ordinary
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        cross_validate(model, x, y[:-1], 5)
    with pytest.raises(ValueError, match="sample_weight has 59 entries, X has 60 rows"):
        cross_validate(model, x, y, 5, sample_weight=weight[:-1])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        cross_validate(model, x, y, GroupKFold(3), groups=np.arange(50))


@BOTH
def test_no_labels(model, ordinary):
    with pytest.raises(ValueError, match="requires y to be passed"):
        cross_validate(model, ordinary[0], cv=5)


@BOTH
def test_missing_labels_and_bad_weights(model, ordinary):
    x, y, weight, _ = ordinary
    with pytest.raises(DataError, match="negative"):
        cross_validate(model, x, y, 5, sample_weight=-weight)
    with pytest.raises(DataError, match="missing"):
        cross_validate(model, x, np.where(y == "low", None, y), 5)


@pytest.mark.parametrize("cv", [5, "loo"])
def test_parameters_are_checked_on_the_fast_routes_too(cv, ordinary):
    x, y, _, _ = ordinary
    with pytest.raises(ParameterError, match="'shrinkage' parameter is 2"):
        cross_validate(LinearDiscriminantAnalysis(shrinkage=2.0), x, y, cv)
    with pytest.raises(ParameterError, match="priors must match number of classes"):
        cross_validate(LinearDiscriminantAnalysis(priors=[0.5, 0.5]), x, y, cv)
    with pytest.raises(ParameterError, match="lbfgs"):
        cross_validate(RidgeClassifier(solver="lbfgs"), x, y, cv)


@pytest.mark.parametrize("cv", ["loo", KFold(2)])
def test_a_single_row(cv):
    with pytest.raises(ValueError, match=r"at least two rows|cannot split these 1 row"):
        cross_validate(LinearDiscriminantAnalysis(), np.ones((1, 2)), ["a"], cv)
