"""OnePassLogisticRegression: the test error of the batch optimum, on real rows seen once."""

import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LogisticRegression as Batch
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import discrim
from discrim import OnePassLogisticRegression, datasets
from discrim.errors import DataError, OrderWarning, ParameterError
from discrim.families.online import one_pass_logistic as blocks

pytestmark = pytest.mark.filterwarnings("ignore:X does not have valid feature names")
SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"
SEED = {"random_state": 0}


def shared(name, *columns):
    path = SHARED / name
    if not path.is_file():
        pytest.skip(f"needs {name} in the folder shared/data beside the repository")
    table = pl.read_csv(path) if path.suffix == ".csv" else pl.read_parquet(path)
    table = table.select(*columns, "y") if columns else table
    return table.drop("y").to_numpy().astype(float), table["y"].to_numpy()


def by_fit(X, y):
    return OnePassLogisticRegression(**SEED).fit(X, y)


def by_parts(X, y):
    """Blocks of 128 rows in random order, as a stream brings them."""
    model, order = OnePassLogisticRegression(**SEED), np.random.default_rng(0).permutation(len(X))
    for start in range(0, len(X), 128):
        model.partial_fit(X[order[start : start + 128]], y[order[start : start + 128]])
    return model


def by_scan(X, y):
    return OnePassLogisticRegression(**SEED).fit(discrim.scan(pl.DataFrame(X).with_columns(y=pl.Series(y)), target="y"))


def excess(X, y, learners, seeds):
    """How much more one pass errs than the batch optimum, on the average of some splits, for each way to learn."""
    more = []
    for seed in range(seeds):
        train, test, of_train, of_test = train_test_split(X, y, test_size=0.3, random_state=seed, stratify=y)
        best = make_pipeline(StandardScaler(), Batch(max_iter=1000)).fit(train, of_train).score(test, of_test)
        more.append([best - learn(train, of_train).score(test, of_test) for learn in learners])
    return np.mean(more, axis=0)


@pytest.mark.parametrize("load", [load_breast_cancer, load_digits])
def test_one_pass_errs_at_most_a_point_more_than_the_batch_optimum(load):
    assert max(excess(*load(return_X_y=True), [by_fit, by_parts, by_scan], 6)) < 0.01


@pytest.mark.shared
@pytest.mark.parametrize("name", ["spam", "vowel", "crabs"])
def test_one_pass_over_shared_rows_errs_at_most_a_point_more(name):
    columns = ("FL", "RW", "CL", "CW", "BD") if name == "crabs" else ()
    X, y = shared(f"{name}/{'train' if name == 'vowel' else 'data'}.csv", *columns)
    assert max(excess(X, y, [by_fit, by_parts], 5)) < 0.01


@pytest.mark.shared
# Seven classes take nine tenths of the time; of the quick cases digits, vowel and crabs have several classes too.
@pytest.mark.parametrize("classes", [2, pytest.param(7, marks=pytest.mark.slow)])
def test_one_pass_over_covertype_errs_at_most_a_point_more(classes):
    X, y = shared("covtype/data.parquet")
    some = np.random.default_rng(0).permutation(len(X))[:20_000]
    X, y = X[some], y[some]
    assert max(excess(X, y == 2 if classes == 2 else y, [by_fit, by_parts], 2)) < 0.01


def test_blocks_in_memory_and_of_a_file_are_solved_one_after_another(monkeypatch):
    X, y = load_digits(return_X_y=True)
    X, y = X[y < 4], y[y < 4]
    monkeypatch.setattr(blocks, "BLOCK_NUMBERS", 64 * 100)
    sizes = []
    as_before = blocks.learn_block
    monkeypatch.setattr(
        blocks, "learn_block", lambda m, rows, *rest: sizes.append(len(rows)) or as_before(m, rows, *rest)
    )
    assert by_fit(X, y).score(X, y) > 0.98
    assert sum(sizes) == len(X)
    assert max(sizes) == 100
    sizes.clear()
    table = pl.DataFrame(X).with_columns(y=pl.Series(y))
    fitted = OnePassLogisticRegression(**SEED).fit(discrim.scan(table, target="y", batch_rows=32))
    assert fitted.score(X, y) > 0.98
    assert sum(sizes) == len(X)
    assert 50 < min(sizes) <= max(sizes) < 200
    assert fitted.n_iter_ == 1
    assert fitted.t_ == len(X) + 1


def test_probabilities_of_several_classes_are_a_softmax():
    X, y = datasets.load_iris().xy
    model = OnePassLogisticRegression(**SEED).fit(X, y)
    scores = np.exp(model.decision_function(X))
    assert_allclose(model.predict_proba(X), scores / scores.sum(axis=1, keepdims=True))
    one = model.predict_proba_one({f"x{j}": value for j, value in enumerate(X[60])})
    assert_allclose(list(one.values()), model.predict_proba(X[60:61])[0])
    assert model.score(X, y) > 0.95


def test_units_and_constant_columns_do_not_matter():
    X, y = load_breast_cancer(return_X_y=True)
    units = 10.0 ** np.linspace(-8, 8, 30)
    one = OnePassLogisticRegression(**SEED).fit(X, y)
    other = OnePassLogisticRegression(**SEED).fit(np.column_stack([X * units - 5.0, np.full(len(X), 1e6)]), y)
    assert_allclose(other.coef_[0, :-1] * units, one.coef_[0], rtol=1e-4)
    assert other.coef_[0, -1] == 0


def test_sparse_rows_with_many_columns_keep_a_diagonal():
    rng = np.random.default_rng(0)
    X = sparse.random(600, 2000, density=0.02, format="csr", random_state=0)
    y = np.asarray(X @ rng.normal(size=2000) > 0)
    model = OnePassLogisticRegression(**SEED).fit(X, y)
    assert model._state.memory.curvature.shape == (1, 2001)
    assert model.score(X, y) > 0.95
    long = X.copy()
    long.indices, long.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    assert_allclose(OnePassLogisticRegression(**SEED).fit(long, y).coef_, model.coef_, rtol=1e-10)


def test_classes_join_a_stream_of_blocks():
    X, y = load_digits(return_X_y=True)
    model = OnePassLogisticRegression(**SEED)
    for k in range(0, 10, 2):
        now = (y == k) | (y == k + 1) | ((y < k) & (np.arange(len(y)) % 4 == 0))
        model.partial_fit(X[now], y[now])
        assert_array_equal(model.classes_, np.arange(k + 2))
    model.partial_fit(X[::2], y[::2])
    assert model.score(X, y) > 0.93


def test_a_key_press_comes_out_and_changes_nothing(monkeypatch):
    X, y = load_digits(return_X_y=True)
    model = OnePassLogisticRegression(**SEED).fit(X[:500], y[:500])
    before = model.predict_proba(X)
    monkeypatch.setattr(blocks, "BLOCK_NUMBERS", 64 * 400)
    calls, as_before = [], blocks.learn_block

    def pressed(*given):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return as_before(*given)

    monkeypatch.setattr(blocks, "learn_block", pressed)
    for call in (model.fit, model.partial_fit):
        calls.clear()
        with pytest.raises(KeyboardInterrupt):
            call(X, y)
        assert_array_equal(model.predict_proba(X), before)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"alpha": -1.0}, "The 'alpha' parameter is -1.0; it must be a finite number of at least 0"),
        ({"alpha": np.inf}, "The 'alpha' parameter"),
        ({"shuffle": "blocks"}, "The 'shuffle' parameter is 'blocks'; it must be True or False"),
        ({"class_weight": "even"}, "The 'class_weight' parameter"),
        ({"fit_intercept": 1}, "The 'fit_intercept' parameter"),
        ({"random_state": -1}, "The 'random_state' parameter"),
    ],
    ids=str,
)
def test_parameters_that_cannot_be_used_are_named(options, words):
    with pytest.raises(ParameterError, match=words):
        OnePassLogisticRegression(**options).fit(*load_breast_cancer(return_X_y=True))


def test_it_has_only_the_parameters_that_it_uses():
    assert set(OnePassLogisticRegression().get_params()) == {
        "alpha", "class_weight", "fit_intercept", "random_state", "shuffle",
    }  # fmt: skip
    assert not hasattr(OnePassLogisticRegression(), "learn_one")


@pytest.mark.parametrize("classes", [2, 3])
def test_one_block_is_the_optimum_of_the_penalised_log_loss(classes):
    """By another program: scikit-learn's C is 1 / (alpha n), with columns in the same units."""
    X, species = datasets.load_iris().xy
    y = np.unique(species, return_inverse=True)[1]
    X, y = X[y >= 3 - classes], y[y >= 3 - classes]
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    model = OnePassLogisticRegression(alpha=0.05).fit(X, y)
    best = Batch(C=1 / (0.05 * len(y)), tol=1e-10, max_iter=10_000).fit(z, y)
    # A block is solved to 0.01 of its log-likelihood, and begins with a quarter of a row at even odds.
    assert_allclose(model.predict_proba(X), best.predict_proba(z), atol=0.02)


def test_balanced_weights_are_those_of_the_rows_and_not_for_parts():
    X, y = load_breast_cancer(return_X_y=True)
    weight = len(y) / (2 * np.bincount(y))[y]
    balanced = OnePassLogisticRegression(alpha=0.05, class_weight="balanced").fit(X, y)
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    best = Batch(C=1 / (0.05 * len(y)), tol=1e-10, max_iter=10_000).fit(z, y, sample_weight=weight)
    assert_allclose(balanced.predict_proba(X), best.predict_proba(z), atol=0.02)
    with pytest.raises(ParameterError, match="not supported for partial_fit"):
        balanced.partial_fit(X, y)


def test_a_stream_that_can_be_read_once_is_enough():
    X, y = load_breast_cancer(return_X_y=True)
    table = pl.DataFrame(X).with_columns(y=pl.Series(y))
    model = OnePassLogisticRegression(**SEED).fit(discrim.scan(table.to_arrow().to_reader(100), target="y"))
    assert model.t_ == len(X) + 1
    assert model.score(X, y) > 0.95


def test_one_class_and_values_too_large_are_refused():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(DataError, match="got 1 class: 1"):
        OnePassLogisticRegression().fit(X[y == 1], y[y == 1])
    model = OnePassLogisticRegression()
    with pytest.raises(DataError, match="The weights overflow: some values are too large"):
        model.fit(X * 1e200, y)
    assert not hasattr(model, "classes_")


def test_bad_values_leave_the_model_alone():
    X, y = load_breast_cancer(return_X_y=True)
    model = OnePassLogisticRegression(**SEED).partial_fit(X, y)
    before = model.coef_.copy()
    dirty = X[:50].copy()
    dirty[3, 2] = np.nan
    with pytest.raises(DataError, match="column 'x2' has 1 NaN"):
        model.partial_fit(dirty, y[:50])
    assert_array_equal(model.coef_, before)
    again = OnePassLogisticRegression(**SEED).partial_fit(X, y).partial_fit(X[:50], y[:50])
    assert_allclose(model.partial_fit(X[:50], y[:50]).coef_, again.coef_)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_a_weight_is_that_many_rows_and_a_weight_of_zero_is_none(make, classes):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 4))
    y = np.argmax(X @ rng.normal(size=(4, classes)) + rng.gumbel(size=(600, classes)), axis=1)
    times = rng.integers(0, 4, 600)
    # The penalty is per unit of weight: with a strong one, rows that are not there would be seen in the slopes.
    weighted = OnePassLogisticRegression(alpha=0.1, **SEED).fit(make(X), y, sample_weight=times)
    repeated = OnePassLogisticRegression(alpha=0.1, **SEED).fit(make(np.repeat(X, times, axis=0)), np.repeat(y, times))
    assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-6, atol=1e-8)
    assert_allclose(weighted.intercept_, repeated.intercept_, rtol=1e-6, atol=1e-8)


def test_blocks_of_a_scan_whose_rows_weigh_nothing_change_nothing(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_NUMBERS", 300)
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(300, 3)), np.tile([0, 1, 1], 100)
    nothing = np.repeat([0.0, 1.0], [100, 200])
    table = pl.DataFrame(X, schema=["a", "b", "c"]).with_columns(y=pl.Series(y), w=pl.Series(nothing))
    options = {**SEED, "shuffle": False}
    model = OnePassLogisticRegression(**options).fit(discrim.scan(table, target="y", weight="w"))
    # The size of the columns is that of the first rows that count.
    assert_allclose(model.coef_, OnePassLogisticRegression(**options).fit(X[100:], y[100:]).coef_, rtol=1e-6)


def test_parts_in_the_order_of_the_classes_are_warned_of():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), np.repeat([0, 1], 100)
    model = OnePassLogisticRegression()
    with pytest.warns(OrderWarning, match=r"All 100 rows of this part are of class '0'\. .* shuffle the rows"):
        model.partial_fit(X[:100], y[:100], classes=[0, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(X[::2], y[::2])
        model.partial_fit(X[:10], y[:10])
        OnePassLogisticRegression().fit(X, y)


@pytest.mark.parametrize("source", ["array", "scan"])
def test_rows_in_the_order_of_the_classes_that_are_not_shuffled_are_warned_of(source, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_NUMBERS", 300)
    monkeypatch.setattr("discrim.models.online.one_pass.rows_at_once", lambda x: 100)
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 400)
    X = rng.normal(size=(800, 3)) + 0.5 * y[:, None]

    def fitted(y, **options):
        if source == "array":
            return OnePassLogisticRegression(**SEED, **options).fit(X, y)
        table = pl.DataFrame(X, schema=["a", "b", "c"]).with_columns(y=pl.Series(y))
        return OnePassLogisticRegression(**SEED, **options).fit(discrim.scan(table, target="y"))

    with pytest.warns(OrderWarning, match=r"100 rows in succession are of class '0'.* or set shuffle=True\.") as caught:
        fitted(y, shuffle=False)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error", OrderWarning)
        fitted(y)
        fitted(np.tile([0, 1], 400), shuffle=False)
        # A rare class is missing from most blocks whatever their order.
        fitted(np.where(np.arange(800) % 200 == 7, 1, 0), shuffle=False)
