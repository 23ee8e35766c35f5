"""A sparse matrix whose index arrays contradict each other is refused before SciPy believes them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from discrim import BernoulliNB, GaussianNB, MultinomialNB, NearestCentroid, RidgeClassifier, SGDClassifier
from discrim.errors import DataError
from discrim.sources import check_structure, open_rows

RNG = np.random.default_rng(0)
X = np.round(3 * RNG.random((40, 6))) * (RNG.random((40, 6)) < 0.6)
Y = np.arange(40) % 2
FORMATS = ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"]


def put(name, place, value):
    """Write one number of an index array."""

    def change(x):
        getattr(x, name)[place] = value

    return change


def new(name, change):
    return lambda x: setattr(x, name, change(getattr(x, name)))


def both(x, column, value):
    x.rows[0].append(column)
    x.data[0].append(value)


BROKEN = {
    ("csr", "an index too large"): (put("indices", 3, 6), "an entry is in column 6, but there are 6, counted from 0"),
    ("csr", "an index far too large"): (put("indices", 3, 10**8), "an entry is in column 100000000"),
    ("csr", "a negative index"): (put("indices", -1, -2), "an entry is in column -2"),
    ("csr", "the least index"): (put("indices", 0, -(2**31)), "an entry is in column -2147483648"),
    ("csr", "a start that is not 0"): (put("indptr", 0, 1), r"indptr goes from 1 to \d+; it must go from 0 to"),
    ("csr", "a negative start"): (put("indptr", 0, -5), "indptr goes from -5"),
    ("csr", "a decreasing start"): (put("indptr", 3, 10**8), "indptr decreases after row 3, from 100000000 to"),
    ("csr", "an end beyond the entries"): (put("indptr", -1, 10**8), r"indptr goes from 0 to 100000000"),
    ("csr", "an end before the entries"): (put("indptr", -1, 1), r"indptr goes from 0 to 1; it must go from 0 to"),
    ("csr", "too few starts"): (new("indptr", lambda a: a[:-2]), "indptr has 39 numbers for 40 rows"),
    ("csr", "too many starts"): (new("indptr", lambda a: np.append(a, a[-1])), "indptr has 42 numbers for 40 rows"),
    ("csr", "too few indices"): (new("indices", lambda a: a[:-9]), "indices for .* stored values"),
    ("csr", "too few values"): (new("data", lambda a: a[:-9]), "indices for .* stored values"),
    ("csr", "broken indices"): (new("indices", lambda a: a + 0.5), "indices holds float64, not integers"),
    ("csr", "broken starts"): (new("indptr", lambda a: a.astype(float)), "indptr holds float64, not integers"),
    ("csr", "a table of indices"): (new("indices", lambda a: a[None]), "indices has 2 dimensions instead of 1"),
    ("csc", "an index too large"): (put("indices", 3, 40), "an entry is in row 40, but there are 40"),
    ("csc", "a negative index"): (put("indices", 3, -9), "an entry is in row -9"),
    ("csc", "a decreasing start"): (put("indptr", 3, 10**8), "indptr decreases after column 3"),
    ("csc", "too few starts"): (new("indptr", lambda a: a[:-1]), "indptr has 6 numbers for 6 columns"),
    ("bsr", "an index too large"): (put("indices", 1, 10**7), "an entry is in column of blocks 10000000"),
    ("bsr", "a negative index"): (put("indices", 1, -3), "an entry is in column of blocks -3"),
    ("bsr", "a decreasing start"): (put("indptr", 3, 10**8), "indptr decreases after row of blocks"),
    ("coo", "a row too large"): (put("row", 2, 40), "an entry is in row 40"),
    ("coo", "a negative row"): (put("row", 2, -1), "an entry is in row -1"),
    ("coo", "a column too large"): (put("col", 2, 10**8), "an entry is in column 100000000"),
    ("coo", "a negative column"): (put("col", 2, -1), "an entry is in column -1"),
    ("coo", "too few values"): (new("data", lambda a: a[:-5]), "rows for .* stored values"),
    ("dia", "an offset twice"): (new("offsets", lambda a: np.append(a[:-1], a[0])), "an offset occurs twice"),
    ("dia", "too few offsets"): (new("offsets", lambda a: a[:-1]), "offsets for .* diagonals"),
    ("dia", "broken offsets"): (new("offsets", lambda a: a + 0.5), "offsets holds float64, not integers"),
    ("lil", "a column too large"): (lambda x: both(x, 10**7, 1.0), "an entry is in column 10000000"),
    ("lil", "a negative column"): (lambda x: both(x, -4, 1.0), "an entry is in column -4"),
    ("lil", "a column without a value"): (lambda x: x.rows[1].append(2), "row 1 has .* columns for .* values"),
    ("lil", "too few lists"): (new("rows", lambda a: a[:-3]), "there are 37 lists of columns and 40 of values"),
    ("dok", "a row too large"): (lambda x: x._dict.update({(99, 0): 1.0}), "an entry is in row 99"),
    ("dok", "a negative column"): (lambda x: x._dict.update({(0, -2): 1.0}), "an entry is in column -2"),
    ("dok", "half a row"): (lambda x: x._dict.update({(1.5, 0): 1.0}), "rows holds float64, not integers"),
}


def matrix(form, api):
    return getattr(sparse, f"{form}_{api}")(X)


@pytest.mark.parametrize("api", ["array", "matrix"])
@pytest.mark.parametrize("case", BROKEN, ids=" ".join)
def test_a_matrix_that_contradicts_itself_is_refused_with_a_sentence(case, api):
    change, words = BROKEN[case]
    x = matrix(case[0], api)
    change(x)
    with pytest.raises(DataError, match=rf"X is a sparse matrix \({case[0]}\) that contradicts itself: .*{words}"):
        check_structure(x)
    with pytest.raises(DataError, match="contradicts itself"):
        assert open_rows(x, Y).whole is None


# The first four look at columns in their kernels, as they read them.
MODELS = [MultinomialNB(), BernoulliNB(alpha=0), NearestCentroid(), RidgeClassifier(), GaussianNB(), SGDClassifier()]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("column", [6, 10**8, -1])
def test_every_model_names_a_column_outside_in_fit_and_in_predict(model, column):
    model, wide, tall = clone(model).fit(X, Y), sparse.csr_matrix(X), sparse.csr_array(np.tile(X, (3000, 1)))
    wide.indices[-2] = tall.indices[-2] = column
    for x, y in ((wide, Y), (tall, np.tile(Y, 3000))):
        for act in (lambda x=x, y=y: clone(model).fit(x, y), lambda x=x: model.predict(x)):
            with pytest.raises(
                DataError, match=f"X is a sparse matrix .* an entry is in column {column}, but there are 6"
            ):
                act()


@pytest.mark.parametrize("api", ["array", "matrix"])
@pytest.mark.parametrize("form", FORMATS)
def test_a_sound_matrix_of_any_format_is_taken(form, api):
    x = matrix(form, api)
    check_structure(x)
    dense = MultinomialNB().fit(X, Y)
    np.testing.assert_allclose(MultinomialNB().fit(x, Y).predict_proba(x), dense.predict_proba(X), rtol=1e-10)
    empty = getattr(sparse, f"{form}_{api}")((3, 6))
    check_structure(empty)
    assert dense.predict(empty).shape == (3,)


@pytest.mark.parametrize("integer", [np.int32, np.int64])
def test_entries_may_be_stored_twice_and_in_any_order(integer):
    x = sparse.csr_array(X)
    order = np.concatenate([np.arange(a, b)[::-1] for a, b in zip(x.indptr[:-1], x.indptr[1:], strict=True)])
    halves = np.repeat(x.data[order] / 2, 2), np.repeat(x.indices[order], 2).astype(integer)
    twice = sparse.csr_array((*halves, (2 * x.indptr).astype(integer)), shape=x.shape)
    check_structure(twice)
    for model in (GaussianNB(), MultinomialNB()):
        found = model.fit(twice, Y).predict_proba(twice)
        np.testing.assert_allclose(found, model.fit(X, Y).predict_proba(X), rtol=1e-8)


def test_labels_given_as_a_sparse_matrix_are_looked_at_too():
    from discrim import OneVsRestClassifier, RidgeClassifier

    y = sparse.csc_array((X > 0).astype(int))
    y.indices[0] = 10**8
    for model in (RidgeClassifier(), OneVsRestClassifier(GaussianNB())):
        with pytest.raises(DataError, match="y is a sparse matrix"):
            model.fit(X, y)


def test_a_refused_matrix_leaves_the_model():
    model = SGDClassifier(random_state=0).fit(sparse.csr_array(X), Y)
    before, bad = model.coef_.copy(), sparse.csr_array(X)
    bad.indices[0] = -1
    for call in (lambda: model.fit(bad, Y), lambda: model.partial_fit(bad, Y)):
        with pytest.raises(DataError, match="contradicts itself"):
            call()
        np.testing.assert_array_equal(model.coef_, before)


ENTRIES = """
    import json, warnings
    import numpy as np
    from scipy import sparse
    from sklearn.base import clone
    from sklearn.naive_bayes import MultinomialNB as Foreign
    import discrim
    from discrim import decision, evaluation
    from discrim.errors import DataError

    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    dense = np.round(3 * rng.random((40, 6))) * (rng.random((40, 6)) < 0.6)
    y, y3 = np.arange(40) % 2, np.arange(40) % 3
    calls = {}

    def add(name, model, labels=y):
        calls[name + ".fit"] = lambda x: clone(model).fit(x, labels)
        fitted = clone(model).fit(sparse.csr_array(dense), labels)
        for method in ("predict", "predict_proba", "predict_log_proba", "decision_function", "transform", "adapt"):
            if hasattr(fitted, method):
                calls[f"{name}.{method}"] = getattr(fitted, method)
        calls[name + ".score"] = lambda x: fitted.score(x, labels)
        for method in ("partial_fit", "forget"):
            if hasattr(fitted, method):
                calls[f"{name}.{method}"] = lambda x, ask=getattr(fitted, method): ask(x, labels)

    for kind in ("LinearDiscriminantAnalysis", "GaussianNB", "MultinomialNB", "BernoulliNB", "LogisticRegression",
                 "SGDClassifier", "RidgeClassifier"):
        model = getattr(discrim, kind)()
        add(kind, model)
        calls["cross_validate " + kind] = lambda x, model=model: discrim.cross_validate(model, x, y, cv=2)
    for inner in (discrim.MultinomialNB(), Foreign()):
        name = type(inner).__module__.partition(".")[0]
        add("one vs rest " + name, discrim.OneVsRestClassifier(inner), y3)
        add("one vs one " + name, discrim.OneVsOneClassifier(inner), y3)
        add("costs " + name, decision.CostSensitiveClassifier(inner))
        add("rejecting " + name, decision.RejectingClassifier(inner))
        add("threshold " + name, decision.ThresholdClassifier(inner, cv=2))
        add("shift " + name, decision.PriorShiftClassifier(inner))
    calls["cross_validate"] = lambda x: discrim.cross_validate(Foreign(), x, y, cv=2)
    calls["learning_curve"] = lambda x: evaluation.learning_curve(Foreign(), x, y, cv=2, sizes=2)
    calls["permutation_test"] = lambda x: evaluation.permutation_test(Foreign(), x, y, cv=2, shuffles=2)
    calls["logistic_path"] = lambda x: discrim.logistic_path(x, y)
    calls["compare"] = lambda x: discrim.compare(x, y, cv=2)
    wrong = []
    for name, call in calls.items():
        for form, array, value in (("csr", "indices", 10**8), ("csc", "indptr", -(10**8)), ("coo", "col", -(10**6))):
            x = getattr(sparse, form + "_array")(dense)
            getattr(x, array)[2] = value
            try:
                call(x)
                wrong.append(f"{name} took {form}")
            except DataError as error:
                if "contradicts itself" not in str(error):
                    wrong.append(f"{name}, {form}: {error}")
    print(json.dumps([len(calls), wrong]))
"""


def test_no_way_in_lets_a_broken_matrix_end_the_process(run_program):
    ran = run_program(ENTRIES, timeout=300)
    assert ran.returncode == 0, ran.stderr[-2000:]
    tried, wrong = json.loads(ran.stdout.splitlines()[-1])
    assert tried > 80
    assert not wrong
