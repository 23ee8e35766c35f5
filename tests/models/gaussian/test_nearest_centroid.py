"""Nearest centroids answer as scikit-learn's, nearest shrunken centroids as Tibshirani et al. (2002) have them."""

import pickle
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, special
from sklearn import datasets, multiclass
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neighbors import NearestCentroid as Foreign

import discrim
from discrim import NearestCentroid, cross_validate, scan
from discrim.decision.multiclass import OneVsOneClassifier, OneVsRestClassifier
from discrim.errors import CollinearWarning, DataError, ParameterError, PrecisionWarning, PriorsWarning
from discrim.evaluation import learning_curve, permutation_test

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"
IRIS = datasets.load_iris(return_X_y=True)
METHODS = ("decision_function", "predict_proba", "predict_log_proba")
FITTED = ("centroids_", "deviations_", "within_class_std_dev_", "class_prior_")


def wide(n=40, p=90, classes=4):
    rng = np.random.default_rng(3)
    y = np.arange(n) % classes
    X = rng.normal(size=(n, p)) * rng.uniform(0.5, 3.0, p) + 5.0
    X[:, :6] += rng.normal(size=(classes, 6))[y]
    return X, y


def noisy(n=90, p=12, classes=3):
    """Classes that overlap, and columns that say nothing."""
    rng = np.random.default_rng(7)
    y = rng.permutation(np.arange(n) % classes)
    X = rng.normal(size=(n, p)) * rng.uniform(0.5, 2.0, p)
    X[:, :4] += rng.normal(size=(classes, 4))[y]
    return X, y


def varying_digits():
    X, y = datasets.load_digits(return_X_y=True)
    return X[:, X.std(axis=0) > 0], y


DATA = {
    "iris": IRIS,
    "two of iris": (IRIS[0][50:], np.array(["versicolor", "virginica"])[IRIS[1][50:] - 1]),
    "named iris": (IRIS[0], np.array(["setosa", "versicolor", "virginica"])[IRIS[1]]),
    "wine": datasets.load_wine(return_X_y=True),
    "breast cancer": datasets.load_breast_cancer(return_X_y=True),
    "digits": varying_digits(),
    "more columns than rows": wide(),
    "two wide classes": wide(classes=2),
}


def shares(y):
    size = len(np.unique(y))
    # A list: scikit-learn compares priors with a word, which an array does not survive.
    return (np.arange(1.0, size + 1.0) / (size * (size + 1) / 2)).tolist()


def pair(metric, threshold, priors, y):
    """Ours and scikit-learn's with the same parameters."""
    priors = shares(y) if priors == "array" else priors
    return [kind(metric, shrink_threshold=threshold, priors=priors) for kind in (NearestCentroid, Foreign)]


def assert_same(ours, theirs, X, tolerance=1e-9, methods=METHODS):
    assert_array_equal(ours.classes_, theirs.classes_)
    for name in FITTED:
        known = getattr(theirs, name)
        assert_allclose(getattr(ours, name), known, rtol=tolerance, atol=tolerance * np.abs(known).max(), err_msg=name)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    for name in methods:
        known = getattr(theirs, name)(X)
        found = getattr(ours, name)(X)
        # Distances are differences of squares in scikit-learn.
        assert_allclose(found, known, rtol=1e-7, atol=tolerance * max(np.abs(known).max(), 1.0), err_msg=name)


class TestAsInScikitLearn:
    @pytest.mark.parametrize("data", DATA)
    @pytest.mark.parametrize("threshold", [None, 0.1, 0.5, 2])
    @pytest.mark.parametrize("priors", ["uniform", "empirical", "array"])
    def test_means_give_the_same_classes_scores_and_posteriors(self, data, threshold, priors):
        X, y = DATA[data]
        ours, theirs = (model.fit(X, y) for model in pair("euclidean", threshold, priors, y))
        assert_same(ours, theirs, X, tolerance=1e-8)

    @pytest.mark.parametrize("data", DATA)
    @pytest.mark.parametrize("threshold", [None, 0.1, 0.5, 2])
    @pytest.mark.parametrize("priors", ["uniform", "empirical", "array"])
    def test_medians_give_the_same_classes(self, data, threshold, priors):
        X, y = DATA[data]
        ours, theirs = (model.fit(X, y) for model in pair("manhattan", threshold, priors, y))
        assert_same(ours, theirs, X, methods=())

    @pytest.mark.parametrize("threshold", [None, 0.5])
    @pytest.mark.parametrize("priors", ["uniform", "empirical"])
    @pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
    @pytest.mark.parametrize("classes", [2, 4])
    def test_sparse_rows_are_rows(self, threshold, priors, metric, classes):
        rng = np.random.default_rng(0)
        # scikit-learn cannot divide by the zero spread of a median that is zero.
        dense = rng.normal(size=(150, 40)) * (rng.uniform(size=(150, 40)) < 0.7)
        y = np.arange(150) ** 2 % 7 % classes
        X = sparse.csr_array(dense)
        ours, theirs = pair(metric, threshold, priors, y)
        ours.fit(X, y)
        methods = METHODS if metric == "euclidean" else ()
        assert_same(ours, theirs.fit(dense, y), dense, methods=methods)
        for name in ("predict", *methods):
            known = getattr(ours, name)(dense)
            for kind in (sparse.csr_array, sparse.csc_matrix):
                assert_allclose(getattr(ours, name)(kind(dense)), known, rtol=1e-9, atol=1e-10)

    @pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
    @pytest.mark.parametrize("threshold", [None, 0.5])
    def test_single_precision_gives_the_same_answers_to_its_rounding(self, metric, threshold):
        X, y = DATA["wine"]
        X = X.astype(np.float32)
        ours, theirs = (model.fit(X, y) for model in pair(metric, threshold, "uniform", y))
        assert_allclose(ours.centroids_, theirs.centroids_, rtol=1e-5)
        assert_allclose(ours.within_class_std_dev_, theirs.within_class_std_dev_, rtol=1e-5)
        assert (ours.predict(X) == theirs.predict(X)).mean() > 0.99
        if metric == "euclidean":
            found, known = ours.predict_proba(X), theirs.predict_proba(X)
            assert found.dtype == np.float32
            assert_allclose(found, known, atol=1e-4)

    def test_a_class_of_prior_zero_is_never_the_answer(self):
        X, y = IRIS
        ours, theirs = (model(priors=[0.0, 0.5, 0.5]).fit(X, y) for model in (NearestCentroid, Foreign))
        with np.errstate(divide="ignore"):
            assert_array_equal(ours.predict(X), theirs.predict(X))
        assert_array_equal(ours.predict_proba(X)[:, 0], 0.0)
        assert 0 not in ours.predict(X)

    def test_a_column_without_spread_counts_in_its_own_units(self):
        X, y = noisy()
        X[:, 5] = y * 0.25
        ours, theirs = NearestCentroid(priors="empirical"), Foreign(priors="empirical")
        with pytest.warns(CollinearWarning, match="Columns 'x5' have zero standard deviation within the classes"):
            ours.fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs.fit(X, y)
        assert_same(ours, theirs, X)

    @pytest.mark.parametrize("named", [False, True])
    def test_of_many_columns_without_spread_the_first_are_named_and_the_others_counted(self, named):
        X, y = noisy()
        X[:, 3:] = 0.0
        names = [f"{'gene ' if named else 'x'}{j}" for j in range(12)]
        first = ", ".join(f"'{name}'" for name in names[3:8])
        with pytest.warns(CollinearWarning, match=f"Columns {first} and 4 more have zero"):
            NearestCentroid().fit(pd.DataFrame(X, columns=names) if named else X, y)

    @pytest.mark.filterwarnings("ignore:Columns 'x3'")
    def test_beside_constant_columns_one_that_varies_by_rounding_is_still_named(self):
        X, y = noisy()
        X[:, 3:] = 0.0
        X[:, 1] = 1e9 + np.where(np.arange(len(y)) % 2, np.spacing(1e9), 0.0)
        with pytest.warns(PrecisionWarning, match="Column 'x1' varies within a class"):
            NearestCentroid().fit(X, y)

    @pytest.mark.parametrize("rule", ["scikit-learn", "pamr"])
    @pytest.mark.parametrize("threshold", [None, 0.5])
    def test_columns_without_spread_may_be_most_of_them(self, rule, threshold):
        """The median s_0 is zero then, and a deviation in units of it has no bound."""
        rng = np.random.default_rng(0)
        y = np.arange(40) % 2
        X = np.column_stack([rng.normal(size=40), y, 2.0 * y, np.zeros(40)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CollinearWarning)
            warnings.simplefilter("error", RuntimeWarning)
            model = NearestCentroid(shrink_threshold=threshold, rule=rule).fit(X, y)
        assert_allclose(model.centroids_[:, 1:], [[0, 0, 0], [1, 2, 0]], atol=1e-15)
        assert_array_equal(model.support_[1:], [True, True, False])
        assert_array_equal(model.predict(X), y)
        assert np.isfinite(model.predict_proba(X)).all()


def pamr_posterior(X, y, rows, threshold, priors, weight=None):
    """Posteriors by the formulas of the article, and which columns are left."""
    weight = np.ones(len(y)) if weight is None else weight
    codes = np.unique(y, return_inverse=True)[1]
    size, total = codes.max() + 1, weight.sum()
    n_k = np.bincount(codes, weight)
    mu = np.stack([np.average(X[codes == k], axis=0, weights=weight[codes == k]) for k in range(size)])
    s = np.sqrt(weight @ (X - mu[codes]) ** 2 / (total - size))
    s_0, mean = np.median(s), np.average(X, axis=0, weights=weight)
    m = np.sqrt(1.0 / n_k - 1.0 / total)[:, None]
    d = (mu - mean) / (m * (s + s_0))
    d = np.sign(d) * np.maximum(np.abs(d) - threshold, 0.0)
    centroids = mean + m * (s + s_0) * d
    pi = n_k / total if priors == "empirical" else np.full(size, 1.0 / size)
    delta = (((rows[:, None] - centroids) / (s + s_0)) ** 2).sum(axis=2)
    return special.softmax(-delta / 2.0 + np.log(pi), axis=1), (d != 0).any(axis=0)


class TestAsInPamr:
    @pytest.mark.parametrize("data", ["iris", "wine", "breast cancer", "more columns than rows"])
    @pytest.mark.parametrize("threshold", [0.0, 0.7, 3.0])
    @pytest.mark.parametrize("priors", ["uniform", "empirical"])
    def test_posteriors_are_those_of_the_article(self, data, threshold, priors):
        X, y = DATA[data]
        model = NearestCentroid(shrink_threshold=threshold, priors=priors, rule="pamr").fit(X, y)
        posterior, left = pamr_posterior(X, y, X, threshold, priors)
        assert_allclose(model.predict_proba(X), posterior, rtol=1e-8, atol=1e-11)
        assert_array_equal(model.support_, left)
        assert_array_equal(model.predict(X), model.classes_[posterior.argmax(axis=1)])

    @pytest.mark.parametrize("rule", ["scikit-learn", "pamr"])
    def test_moving_all_rows_changes_nothing(self, rule):
        X, y = wide()
        model = NearestCentroid(shrink_threshold=0.6, rule=rule)
        found = clone(model).fit(X + 1000.0, y).predict_proba(X + 1000.0)
        assert_allclose(found, model.fit(X, y).predict_proba(X), rtol=1e-8, atol=1e-12)

    def test_one_unit_for_all_columns_may_be_any(self):
        X, y = wide()
        model = NearestCentroid(shrink_threshold=0.6, rule="pamr").fit(X, y)
        for unit in (1e-6, 3.0, 1e6):
            other = clone(model).fit(unit * X, y)
            assert_array_equal(other.support_, model.support_)
            assert_allclose(other.predict_proba(unit * X), model.predict_proba(X), rtol=1e-9, atol=1e-13)

    @pytest.mark.parametrize("rule", ["scikit-learn", "pamr"])
    def test_weights_are_repeated_rows(self, rule):
        X, y = wide()
        times = np.random.default_rng(1).integers(0, 4, len(y))
        model = NearestCentroid(shrink_threshold=0.3, priors="empirical", rule=rule)
        repeated = clone(model).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
        weighted = clone(model).fit(X, y, sample_weight=times)
        assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-9, atol=1e-12)
        assert_allclose(weighted.deviations_, repeated.deviations_, rtol=1e-9, atol=1e-12)

    def test_weights_are_repeated_rows_for_medians_too(self):
        X, y = wide()
        times = np.random.default_rng(1).integers(0, 4, len(y))
        repeated = NearestCentroid("manhattan").fit(np.repeat(X, times, axis=0), np.repeat(y, times))
        weighted = NearestCentroid("manhattan").fit(X, y, sample_weight=times)
        assert_allclose(weighted.centroids_, repeated.centroids_, rtol=1e-12)
        assert_allclose(weighted.within_class_std_dev_, repeated.within_class_std_dev_, rtol=1e-9)
        assert_array_equal(weighted.predict(X), repeated.predict(X))

    @pytest.mark.shared
    def test_forty_three_genes_tell_the_blue_cell_tumours_apart(self):
        """Tibshirani, Hastie, Narasimhan and Chu (2002), PNAS 99: threshold 4.34, 43 genes, no error of 20."""
        folder = SHARED / "srbct"
        if not folder.is_dir():
            pytest.skip("needs srbct/train.npz and srbct/test.npz in the folder shared/data beside the repository")
        train, test = (np.load(folder / f"{part}.npz") for part in ("train", "test"))
        model = NearestCentroid(shrink_threshold=4.34, priors="empirical", rule="pamr").fit(train["X"], train["y"])
        assert model.support_.sum() == 43
        assert (model.predict(test["X"]) != test["y"]).sum() == 0
        assert (model.predict(train["X"]) != train["y"]).sum() == 0


def errors_by_refitting(model, X, y, folds, thresholds):
    """The mean error over all rows, and the error of every fold, thresholds x folds."""
    error = np.zeros((len(thresholds), folds.get_n_splits()))
    sizes = []
    for f, (train, test) in enumerate(folds.split(X, y)):
        sizes.append(len(test))
        for t, value in enumerate(thresholds):
            fitted = clone(model).set_params(shrink_threshold=value).fit(X[train], y[train])
            error[t, f] = (fitted.predict(X[test]) != y[test]).mean()
    return error @ sizes / np.sum(sizes), error


class TestThresholdByFolds:
    @pytest.mark.parametrize("rule", ["scikit-learn", "pamr"])
    @pytest.mark.parametrize("priors", ["uniform", "empirical", [0.2, 0.3, 0.5]], ids=str)
    @pytest.mark.parametrize("rows", [noisy, lambda: wide(classes=3)], ids=["long", "wide"])
    def test_errors_are_those_of_refitting_every_threshold(self, rule, priors, rows):
        X, y = rows()
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        model = NearestCentroid(shrink_threshold="cv", priors=priors, rule=rule, cv=folds).fit(X, y)
        tried = model.cv_results_["thresholds"]
        assert len(tried) == 30
        assert tried[0] == np.abs(NearestCentroid().fit(X, y).deviations_).max()
        assert tried[-1] == 0.0
        known, by_fold = errors_by_refitting(model, X, y, folds, tried)
        assert_allclose(model.cv_results_["mean_error"], known, atol=1e-12)
        best = np.flatnonzero(known <= known.min() + 1e-12)[0]
        assert model.shrink_threshold_ == tried[best]
        assert model.cv_results_["shrink_threshold"] == tried[best]
        alone = clone(model).set_params(shrink_threshold=tried[best]).fit(X, y)
        assert_array_equal(alone.centroids_, model.centroids_)
        careful = clone(model).set_params(selection="one-se").fit(X, y)
        assert_allclose(careful.cv_results_["std_error"], by_fold.std(axis=1, ddof=1) / np.sqrt(5), rtol=0.1, atol=0.01)
        allowed = known <= known.min() + careful.cv_results_["std_error"][best] + 1e-12
        assert careful.shrink_threshold_ == tried[np.flatnonzero(allowed)[0]]
        assert careful.shrink_threshold_ >= model.shrink_threshold_

    def test_log_losses_are_those_of_refitting(self):
        X, y = noisy()
        folds = StratifiedKFold(5)
        tried = [1.0, 0.5, 0.0]
        model = NearestCentroid(shrink_threshold="cv", thresholds=tried, cv=folds, priors="empirical").fit(X, y)
        for value, found in zip(tried, model.cv_results_["mean_log_loss"], strict=True):
            one = NearestCentroid(shrink_threshold=value, priors="empirical")
            assert_allclose(found, cross_validate(one, X, y, cv=folds).log_loss, rtol=1e-9)

    def test_of_equal_errors_the_largest_threshold_is_taken(self):
        X, y = IRIS
        X, y = X[y < 2], y[y < 2]
        model = NearestCentroid(shrink_threshold="cv", thresholds=[0.0, 3.0, 1.0, 2.0]).fit(X, y)
        assert_array_equal(model.cv_results_["thresholds"], [3.0, 2.0, 1.0, 0.0])
        assert_array_equal(model.cv_results_["mean_error"], 0.0)
        assert model.shrink_threshold_ == 3.0

    def test_a_path_that_is_scored_in_pieces_is_the_same(self, monkeypatch):
        X, y = noisy()
        model = NearestCentroid(shrink_threshold="cv").fit(X, y)
        monkeypatch.setattr("discrim.families.gaussian.centroids.MOST_SCORES", 100)
        pieces = clone(model).fit(X, y)
        assert_array_equal(pieces.cv_results_["mean_error"], model.cv_results_["mean_error"])

    def test_a_class_that_a_training_part_lacks_is_no_answer_there(self):
        X, y = noisy()
        y[:] = np.arange(len(y)) % 2
        y[:3] = 2
        folds = KFold(15)
        for priors in ("uniform", "empirical"):
            model = NearestCentroid(shrink_threshold="cv", cv=folds, thresholds=[0.0, 1.0], priors=priors).fit(X, y)
            known, _ = errors_by_refitting(model, X, y, folds, [1.0, 0.0])
            assert_allclose(model.cv_results_["mean_error"], known, atol=1e-12)

    @pytest.mark.filterwarnings("error::RuntimeWarning")
    def test_training_parts_of_one_row_a_class_are_refused_in_words(self):
        X, y = np.arange(8.0).reshape(4, 2) ** 2, np.array([0, 1, 0, 1])
        with pytest.raises(ParameterError, match="No setting can be fitted to every training part"):
            NearestCentroid(shrink_threshold="cv", cv=2).fit(X, y)

    def test_medians_cannot_be_tuned(self):
        with pytest.raises(ParameterError, match="shrink_threshold='cv' needs metric='euclidean'"):
            NearestCentroid("manhattan", shrink_threshold="cv").fit(*IRIS)

    def test_more_rows_keep_the_threshold(self):
        X, y = noisy()
        model = NearestCentroid(shrink_threshold="cv", rule="pamr").fit(X[:60], y[:60])
        chosen = model.shrink_threshold_
        model.partial_fit(X[60:], y[60:])
        assert model.shrink_threshold_ == chosen
        alone = NearestCentroid(shrink_threshold=chosen, rule="pamr").fit(X, y)
        assert_allclose(model.predict_proba(X), alone.predict_proba(X), rtol=1e-10, atol=1e-13)

    def test_parts_alone_cannot_choose_a_threshold(self):
        model = NearestCentroid(shrink_threshold="cv").partial_fit(*IRIS)
        with pytest.raises(DataError, match="'cv' needs the rows themselves: use fit first"):
            model.predict(IRIS[0])

    def test_cross_validation_chooses_in_every_fold(self):
        X, y = noisy()
        model = NearestCentroid(shrink_threshold="cv", cv=4, rule="pamr")
        folds = StratifiedKFold(3)
        found = cross_validate(model, X, y, cv=folds)
        for train, test in folds.split(X, y):
            alone = clone(model).fit(X[train], y[train])
            assert_allclose(found.posterior[test], alone.predict_proba(X[test]), rtol=1e-9, atol=1e-12)


MODELS = [
    NearestCentroid(),
    NearestCentroid(priors="empirical"),
    NearestCentroid(shrink_threshold=0.4, priors=[0.2, 0.3, 0.5]),
    NearestCentroid(shrink_threshold=0.4, rule="pamr", priors="empirical"),
]


def assert_alike(found, known, X):
    assert_array_equal(found.predict(X), known.predict(X))
    assert_allclose(found.decision_function(X), known.decision_function(X), rtol=1e-9, atol=1e-9)
    assert_allclose(found.predict_proba(X), known.predict_proba(X), rtol=1e-9, atol=1e-12)
    assert_allclose(found.deviations_, known.deviations_, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("model", MODELS, ids=str)
class TestRowsInParts:
    def test_parts_give_what_one_fit_gives(self, model):
        X, y = noisy()
        parts = clone(model)
        for start in range(0, 90, 30):
            parts.partial_fit(X[start : start + 30], y[start : start + 30])
        assert_alike(parts, clone(model).fit(X, y), X)

    def test_forgetting_undoes_learning(self, model):
        X, y = noisy()
        found = clone(model).fit(X, y).forget(X[60:], y[60:])
        assert_alike(found, clone(model).fit(X[:60], y[:60]), X)

    def test_models_of_parts_merge_to_the_model_of_all(self, model):
        X, y = noisy()
        merged = discrim.merge(*(clone(model).fit(X[part::3], y[part::3]) for part in range(3)))
        assert_alike(merged, clone(model).fit(X, y), X)

    def test_a_statistic_is_enough(self, model):
        X, y = noisy()
        known = clone(model).fit(X, y)
        assert_alike(NearestCentroid.from_statistic(known.statistic_, **model.get_params()), known, X)
        wider = discrim.GaussianNB().fit(X, y).statistic_
        assert_alike(NearestCentroid.from_statistic(wider, **model.get_params()), known, X)

    def test_files_give_what_arrays_give(self, model, tmp_path):
        X, y = noisy()
        table = pd.DataFrame(X, columns=[f"g{j}" for j in range(X.shape[1])]).assign(kind=y)
        columns = table.drop(columns="kind")
        known = clone(model).fit(columns, y)
        table.to_csv(tmp_path / "rows.csv", index=False)
        table.to_parquet(tmp_path / "rows.parquet")
        for name in ("rows.csv", "rows.parquet"):
            assert_alike(clone(model).fit(scan(tmp_path / name, target="kind")), known, columns)

    def test_a_pickle_answers_alike(self, model):
        X, y = noisy()
        known = clone(model).fit(X, y)
        assert_alike(pickle.loads(pickle.dumps(known)), known, X)

    @pytest.mark.parametrize("cv", [10, "loo"])
    def test_leaving_a_fold_out_equals_refitting_without_it(self, model, cv):
        X, y = noisy()
        found = cross_validate(model, X, y, cv=cv)
        assert found.route == "statistics"
        for fold in np.unique(found.folds):
            test = found.folds == fold
            alone = clone(model).fit(X[~test], y[~test])
            assert_array_equal(found.predicted[test], alone.predict(X[test]))
            assert_allclose(found.posterior[test], alone.predict_proba(X[test]), rtol=1e-8, atol=1e-11)

    def test_learning_curves_and_permutation_tests_run(self, model):
        X, y = noisy()
        curve = learning_curve(model, X, y, sizes=[30, 60], cv=5)
        assert len(curve.sizes) == 2
        found = permutation_test(model, X, y, cv=3, shuffles=19)
        assert 0.0 < found.p_value <= 1.0


@pytest.mark.parametrize("threshold", ["cv", 0.3])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_files_are_read_again_where_the_rows_are_needed(metric, threshold, tmp_path):
    if (metric, threshold) == ("manhattan", "cv"):
        pytest.skip("medians cannot be tuned")
    X, y = noisy()
    path = tmp_path / "rows.parquet"
    pd.DataFrame(X, columns=[f"g{j}" for j in range(X.shape[1])]).assign(kind=y).to_parquet(path)
    model = NearestCentroid(metric, shrink_threshold=threshold)
    found, known = clone(model).fit(scan(path, target="kind")), model.fit(X, y)
    assert found.shrink_threshold_ == pytest.approx(known.shrink_threshold_, rel=1e-12)
    assert_allclose(found.centroids_, known.centroids_, rtol=1e-10, atol=1e-13)


def test_cross_validated_medians_are_refitted():
    X, y = noisy()
    model = NearestCentroid("manhattan", shrink_threshold=0.3)
    found = cross_validate(model, X, y, cv=5)
    for fold in range(5):
        test = found.folds == fold
        assert_array_equal(found.predicted[test], clone(model).fit(X[~test], y[~test]).predict(X[test]))


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_a_class_without_rows_is_never_nearest(metric):
    """Its centroid would be the mean of all rows, which is nearest to many of them."""
    X, y = noisy()
    model = NearestCentroid(metric)
    if metric == "euclidean":
        model.partial_fit(X, y, classes=[0, 1, 2, 3])
    else:
        weight = np.append(np.ones(len(y)), 0.0)
        model.fit(np.vstack([X, X.mean(axis=0)]), np.append(y, 3), sample_weight=weight)
    assert 3 not in model.predict(X)
    assert_array_equal(model.predict(X), NearestCentroid(metric).fit(X, y).predict(X))


def test_medians_cannot_be_learned_in_parts():
    model = NearestCentroid("manhattan").partial_fit(*IRIS)
    with pytest.raises(DataError, match="metric='manhattan' needs the rows themselves, for their medians: use fit"):
        model.predict(IRIS[0])


@pytest.mark.parametrize("scheme", [OneVsRestClassifier, OneVsOneClassifier])
class TestSchemes:
    @pytest.mark.parametrize("inner", [{}, {"shrink_threshold": 0.4, "rule": "pamr"}, {"priors": "empirical"}], ids=str)
    def test_two_class_models_are_those_of_fits_apart(self, scheme, inner):
        X, y = noisy(classes=4)
        model = scheme(NearestCentroid(**inner)).fit(X, y)
        if scheme is OneVsRestClassifier:
            problems = [(np.ones(len(y), bool), y == k) for k in range(4)]
        else:
            problems = [(np.isin(y, [a, b]), y == b) for a in range(4) for b in range(a + 1, 4)]
        for found, (rows, side) in zip(model.estimators_, problems, strict=True):
            assert_alike(found, NearestCentroid(**inner).fit(X[rows], side[rows].astype(int)), X)

    @pytest.mark.parametrize("priors", ["uniform", [0.4, 0.6]], ids=str)
    @pytest.mark.parametrize("threshold", [None, 0.4])
    def test_scores_are_those_of_scikit_learn(self, scheme, priors, threshold):
        X, y = noisy(classes=4)
        inner = {"priors": priors, "shrink_threshold": threshold}
        theirs = getattr(multiclass, scheme.__name__)(Foreign(**inner)).fit(X, y)
        ours = scheme(NearestCentroid(**inner)).fit(X, y)
        assert_array_equal(ours.predict(X), theirs.predict(X))
        assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-8, atol=1e-8)


def missing():
    X = IRIS[0].copy()
    X[7, 2] = np.nan
    return X


X, Y = IRIS
REFUSED = {
    "negative priors": ({"priors": [-0.5, 0.5, 1.0]}, X, Y, "priors must be non-negative"),
    "priors that are all zero": ({"priors": [0.0, 0.0, 0.0]}, X, Y, "not all zero"),
    "two priors for three classes": ({"priors": [0.5, 0.5]}, X, Y, "2 priors are given for 3 classes"),
    "a word that is no prior": ({"priors": "shares"}, X, Y, "'priors' parameter is 'shares'"),
    "one class": ({}, X, np.zeros(150), r"The number of classes has to be greater than one; got 1 class"),
    "one class to tune": ({"shrink_threshold": "cv"}, X, np.zeros(150), r"greater than one; got 1 class"),
    "as many rows as classes": ({}, X[::50], Y[::50], "found 3 samples of 3 classes"),
    "too few rows to tune": ({"shrink_threshold": "cv"}, X[::50], Y[::50], "found 3 samples of 3 classes"),
    "missing values": ({}, missing(), Y, "x2"),
    "missing values among medians": ({"metric": "manhattan"}, missing(), Y, "x2"),
    "constant columns": ({}, np.full((150, 3), 0.1), Y, "All features have zero variance"),
    "constant columns to tune": ({"shrink_threshold": "cv"}, np.full((150, 3), 0.1), Y, "zero variance"),
    "a negative threshold": ({"shrink_threshold": -1.0}, X, Y, "'shrink_threshold' parameter is -1.0"),
    "a word for a threshold": ({"shrink_threshold": "loo"}, X, Y, "'shrink_threshold' parameter is 'loo'"),
    "no number": ({"shrink_threshold": np.nan}, X, Y, "'shrink_threshold' parameter is nan"),
    "truth as a threshold": ({"shrink_threshold": True}, X, Y, "'shrink_threshold' parameter is True"),
    "negative thresholds": ({"shrink_threshold": "cv", "thresholds": [1, -1]}, X, Y, "'thresholds' parameter"),
    "no thresholds": ({"shrink_threshold": "cv", "thresholds": []}, X, Y, "'thresholds' parameter"),
    "another metric": ({"metric": "cosine"}, X, Y, "'metric' parameter is 'cosine'"),
    "another rule": ({"rule": "nearest"}, X, Y, "'rule' parameter is 'nearest'"),
    "posteriors of medians": ({"rule": "pamr", "metric": "manhattan"}, X, Y, "rule='pamr' needs metric='euclidean'"),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_cannot_be_fitted_is_refused_in_words_and_leaves_the_model(reason):
    parameters, rows, labels, words = REFUSED[reason]
    model = NearestCentroid().fit(*IRIS).set_params(**parameters)
    before = pickle.dumps(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=words):
            model.fit(rows, labels)
    assert pickle.dumps(model) == before


def test_priors_that_do_not_sum_to_one_are_rescaled_with_a_warning():
    model = NearestCentroid(priors=[2.0, 1.0, 1.0])
    with pytest.warns(PriorsWarning, match="The priors do not sum to 1. Normalizing such that it sums to one"):
        model.fit(*IRIS)
    assert_allclose(model.class_prior_, [0.5, 0.25, 0.25])


def test_medians_have_classes_but_no_scores():
    model = NearestCentroid("manhattan").fit(*IRIS)
    for name in METHODS:
        assert not hasattr(model, name)
        assert hasattr(NearestCentroid(), name)
    with pytest.raises(AttributeError) as caught:
        model.predict_proba(IRIS[0])
    assert "gives classes only" in str(caught.value.__cause__)


class TestSummary:
    def test_it_lists_the_columns_that_are_left(self):
        X, y = datasets.load_wine(return_X_y=True, as_frame=True)
        model = NearestCentroid(shrink_threshold=8.0, rule="pamr").fit(X, y)
        assert 0 < model.support_.sum() < X.shape[1]
        text = str(model.summary())
        assert "Nearest shrunken centroids" in text
        for name, left in zip(X.columns, model.support_, strict=True):
            # Whole words: some names begin with others.
            listed = any(line.split()[:1] == [name] for line in text.splitlines())
            assert listed == left, name
        frame = model.summary().to_frame()
        assert set(frame.index) == set(X.columns[model.support_])
        assert_allclose(frame.loc[X.columns[model.support_]].to_numpy(), model.deviations_[:, model.support_].T)

    def test_the_column_that_tells_most_comes_first(self):
        X, y = datasets.load_wine(return_X_y=True, as_frame=True)
        frame = NearestCentroid().fit(X, y).summary().to_frame()
        largest = np.abs(frame.to_numpy()).max(axis=1)
        assert (np.diff(largest) <= 0).all()

    @pytest.mark.parametrize("rule", ["scikit-learn", "pamr"])
    def test_nothing_may_be_left(self, rule):
        X, y = IRIS
        model = NearestCentroid(shrink_threshold=1e6, rule=rule).fit(X, y)
        assert not model.support_.any()
        assert "Columns left: 0" in " ".join(str(model.summary()).split())
        assert len(model.summary().to_frame()) == 0
        assert_allclose(model.predict_proba(X), 1 / 3, rtol=1e-12)
        assert_array_equal(model.predict(X), 0)


def test_cross_validation_of_medians_has_answers_and_no_posteriors():
    X, y = noisy(classes=3)
    found = cross_validate(NearestCentroid("manhattan"), X, y, cv=4)
    expected = np.empty_like(y)
    for f in range(4):
        out = found.folds == f
        expected[out] = NearestCentroid("manhattan").fit(X[~out], y[~out]).predict(X[out])
    assert_array_equal(found.predicted, expected)
    assert np.isnan(found.log_loss)
