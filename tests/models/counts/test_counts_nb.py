"""Naive Bayes of counts gives scikit-learn's answers, in parts as at once."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import naive_bayes as peers

from discrim import BernoulliNB, ComplementNB, MultinomialNB, merge, scan
from discrim.errors import DataError, ForgetError, ParameterError
from discrim.statistics import ClassCounts

KINDS = [BernoulliNB, ComplementNB, MultinomialNB]
ATTRIBUTES = ["class_count_", "class_log_prior_", "feature_count_", "feature_log_prob_"]
ALPHAS = [1.0, 0, 1e-12, 0.3, 7, [0.1, 2.0, 1.0, 0.5, 3.0, 1.0, 0.2]]
SETTINGS = [
    *({"alpha": alpha} for alpha in ALPHAS[2:]),
    {"fit_prior": False},
    {"class_prior": [0.1, 0.6, 0.3]},
    {"class_prior": [1.0, 2.0, 3.0]},
]
ONLY = {
    BernoulliNB: [{"binarize": 1.0}, {"binarize": 0.5, "alpha": 2.0}],
    ComplementNB: [{"norm": True}, {"norm": True, "alpha": 0.1}],
    MultinomialNB: [],
}
CASES = [(kind, options) for kind in KINDS for options in [{}, *SETTINGS, *ONLY[kind]]]
# Where scikit-learn's BernoulliNB fails: it adds p numbers to K, and loses the digits of 1 - p.
BROKEN = [(BernoulliNB, SETTINGS[i]) for i in (0, 3)]
CONTAINERS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "float32": lambda a: a.astype(np.float32),
    "int": lambda a: a.astype(np.int64),
    "list": lambda a: a.tolist(),
    "csr": sparse.csr_array,
    "csr matrix": sparse.csr_matrix,
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
    "csr float32": lambda a: sparse.csr_array(a.astype(np.float32)),
    "csr of integers": lambda a: sparse.csr_array(a.astype(np.int32)),
    "64-bit": lambda a: with_long_indices(sparse.csr_array(a)),
}


def with_long_indices(x):
    x.indices, x.indptr = x.indices.astype(np.int64), x.indptr.astype(np.int64)
    return x


def rows(n=60, p=7, seed=0):
    rng = np.random.default_rng(seed)
    y = np.array(["no", "perhaps", "yes"])[rng.integers(0, 3, n)]
    rate = {"no": [2, 1, 0.2], "perhaps": [0.5, 1, 1], "yes": [0.1, 0.4, 3]}
    X = rng.poisson([np.resize(rate[label], p) for label in y]).astype(float)
    X[:, -1] = 0.0
    return X, y, rng.integers(0, 9, n) / 4.0


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize(("kind", "options"), [case for case in CASES if case not in BROKEN], ids=str)
def test_every_parameter_means_what_it_means_in_scikit_learn(kind, options, weighted):
    X, y, w = rows()
    w = w if weighted else None
    ours, peer = kind(**options).fit(X, y, w), getattr(peers, kind.__name__)(**options).fit(X, y, w)
    for name in ATTRIBUTES:
        assert_allclose(getattr(ours, name), getattr(peer, name), rtol=1e-11, atol=1e-13, err_msg=name)
    if kind is ComplementNB:
        assert_allclose(ours.feature_all_, peer.feature_all_)
    new = rows(seed=1)[0]
    assert_array_equal(ours.predict(new), peer.predict(new))
    for method in ("predict_proba", "predict_log_proba", "predict_joint_log_proba"):
        assert_allclose(getattr(ours, method)(new), getattr(peer, method)(new), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(("a", "b"), [(1e-12, 1e-12), (np.linspace(0.1, 2, 7),) * 2, (0.5, np.linspace(0.1, 2, 7))])
def test_bernoulli_with_any_beta_prior_is_the_product_of_its_predictive_probabilities(a, b):
    X, y, w = rows()
    alike = {"alpha": a} if np.array_equal(a, b) else {"beta": (a, b)}
    found = BernoulliNB(class_alpha=0.5, **alike).fit(X, y, w).predict_joint_log_proba(X)
    for k, label in enumerate(np.unique(y)):
        own, n = y == label, w[y == label].sum()
        there, absent = w[own] @ (X[own] > 0) + a, w[own] @ (X[own] == 0) + b
        expected = np.where(X > 0, np.log(there / (n + a + b)), np.log(absent / (n + a + b))).sum(axis=1)
        assert_allclose(found[:, k], expected + np.log((n + 0.5) / (w.sum() + 1.5)), rtol=1e-11)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_container_does_not_matter(kind, container):
    X, y, w = rows()
    one, other = kind().fit(X, y, w), kind().fit(CONTAINERS[container](X), y, w)
    assert_allclose(other.feature_log_prob_, one.feature_log_prob_, rtol=1e-12)
    tolerance = 1e-5 if "float32" in container else 1e-12
    assert_allclose(other.predict_proba(CONTAINERS[container](X)), one.predict_proba(X), rtol=tolerance, atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_frames_and_scans_give_the_same(kind):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y, _ = rows()
    names = [f"w{j}" for j in range(X.shape[1])]
    expected = kind().fit(X, y)
    frame = pd.DataFrame(X, columns=names)
    found = kind().fit(frame, y)
    assert found.feature_names_in_.tolist() == names
    lazy = scan(pl.DataFrame(X, schema=names).with_columns(y=pl.Series(y)).lazy(), target="y")
    for model, data in ((found, frame), (kind().fit(lazy), lazy)):
        assert_allclose(model.predict_proba(data), expected.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize(("kind", "options"), CASES, ids=str)
def test_parts_merged_models_and_forgotten_rows_equal_one_fit(kind, options):
    X, y, w = rows()
    whole = kind(**options).fit(X, y, w)
    half = len(y) // 2
    parts = kind(**options).partial_fit(X[:half], y[:half], np.unique(y), w[:half])
    parts.partial_fit(sparse.csr_array(X[half:]), y[half:], sample_weight=w[half:])
    merged = merge(kind(**options).fit(X[:half], y[:half], w[:half]), kind(**options).fit(X[half:], y[half:], w[half:]))
    more = rows(seed=5)
    forgetful = kind(**options).fit(np.vstack([X, more[0]]), np.append(y, more[1]), np.append(w, more[2])).forget(*more)
    for model in (parts, merged, forgetful, kind.from_statistic(whole.statistic_, **options)):
        assert_allclose(model.feature_log_prob_, whole.feature_log_prob_, rtol=1e-12)
        assert_allclose(model.predict_proba(X), whole.predict_proba(X), rtol=1e-10, atol=1e-300)
    again = pickle.loads(pickle.dumps(whole))
    assert_array_equal(again.predict_proba(X), whole.predict_proba(X))


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_class_may_come_later_unless_the_classes_were_declared(kind):
    X, y, _ = rows()
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    few = int((y == "no").sum())
    model = kind().partial_fit(X[:few], y[:few]).partial_fit(X[few:], y[few:])
    assert_allclose(model.predict_proba(X), kind().fit(X, y).predict_proba(X), rtol=1e-12)
    with pytest.raises(DataError, match="do not exist in the initial classes"):
        kind().partial_fit(X[:few], y[:few], classes=["no", "yes"]).partial_fit(X[few:], y[few:])
    declared = kind().partial_fit(X[:few], y[:few], classes=["no", "perhaps", "yes"])
    peer = getattr(peers, kind.__name__)().partial_fit(X[:few], y[:few], classes=["no", "perhaps", "yes"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        assert_allclose(declared.predict_proba(X), peer.predict_proba(X), rtol=1e-10, atol=1e-300)
    assert_array_equal(np.isneginf(declared.class_log_prior_), [False, True, True])


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_were_never_learned_cannot_be_forgotten(kind):
    X, y, _ = rows()
    with pytest.raises(ForgetError):
        kind().fit(X[:5], y[:5]).forget(X, y)


@pytest.mark.parametrize("options", [{"alpha": 0.0}, {"alpha": 1e-11}], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_a_tiny_alpha_is_raised_with_scikit_learns_warning_where_it_is_not_forced(kind, options):
    X, y, _ = rows()
    with pytest.warns(UserWarning, match=r"setting alpha = 1\.0e-10\. Use `force_alpha=True`"):
        model = kind(force_alpha=False, **options).fit(X, y)
    assert_allclose(model.predict_proba(X), kind(alpha=1e-10).fit(X, y).predict_proba(X), rtol=1e-10)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("options", [{}, {"norm": True}], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_without_smoothing_the_answer_is_what_small_alphas_tend_to(kind, options, container):
    if options and kind is not ComplementNB:
        pytest.skip("norm belongs to ComplementNB")
    X, y, _ = rows(12, 4)
    new = container(rows(40, 4, seed=2)[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        zero = kind(alpha=0.0, **options).fit(container(X), y)
        posterior = zero.predict_proba(new)
        assert_allclose(np.exp(zero.predict_log_proba(new)), posterior, atol=1e-15)
    # With norm the limit is reached as slowly as a logarithm grows.
    tiny = kind(alpha=1e-300, **options).fit(X, y).predict_proba(new)
    assert_allclose(posterior, tiny, atol=0.02 if options else 1e-9)


def test_counts_below_zero_are_refused_by_name():
    X, y, _ = rows()
    X[3, 2] = -1
    for kind in (MultinomialNB, ComplementNB):
        for data in (X, sparse.csr_array(X)):
            with pytest.raises(DataError, match=rf"passed to {kind.__name__} \(input X\): column 'x2' is the first"):
                kind().fit(data, y)
    assert_array_equal(BernoulliNB().fit(X, y).feature_count_, BernoulliNB().fit(np.abs(X) * (X > 0), y).feature_count_)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_missing_and_infinite_values_are_refused_by_name(kind, bad, container):
    X, y, _ = rows()
    model = kind().fit(container(X), y)
    X[5, 4] = bad
    with pytest.raises(DataError, match="column 'x4' has 1"):
        kind().fit(container(X), y)
    with pytest.raises(DataError, match="column 'x4' has 1"):
        model.predict(container(X))


@pytest.mark.parametrize("kind", KINDS)
def test_hard_rows_are_answered(kind):
    X, y, _ = rows()
    model = kind().fit(X, y)
    empty = sparse.csr_array((3, X.shape[1]))
    assert_allclose(model.predict_proba(empty), model.predict_proba(np.zeros((3, X.shape[1]))), rtol=1e-14)
    one = kind().fit(X, np.full(len(y), "only"))
    assert_array_equal(one.predict_proba(X), np.ones((len(y), 1)))
    assert_array_equal(one.predict(X), np.full(len(y), "only"))
    nothing = kind().fit(np.zeros_like(X), y)
    peer = getattr(peers, kind.__name__)().fit(np.zeros_like(X), y)
    assert_allclose(nothing.predict_proba(X), peer.predict_proba(X), rtol=1e-12)
    stored = sparse.csr_array(X)
    stored.data[::3] = 0.0
    assert_allclose(kind().fit(stored, y).feature_count_, kind().fit(stored.toarray(), y).feature_count_)
    with pytest.raises(ValueError, match="6 features"):
        model.predict(X[:, :6])
    with pytest.raises(ValueError, match="0 sample"):
        model.predict(X[:0])


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (MultinomialNB, {"alpha": -1.0}, "'alpha' parameter is -1.0"),
        (MultinomialNB, {"alpha": "best"}, "'alpha' parameter is 'best'"),
        (MultinomialNB, {"alpha": [1.0, 2.0]}, "Got 2 elements instead of 7"),
        (MultinomialNB, {"alpha": [[1.0] * 7]}, r"Got an array of the shape \(1, 7\) instead of 7"),
        (MultinomialNB, {"alpha": [1.0] * 6 + [-0.1]}, r"must be greater than 0, and finite\. One is -0\.1"),
        (MultinomialNB, {"alpha": [1.0] * 6 + [np.inf]}, r"and finite\. One is inf"),
        (MultinomialNB, {"class_prior": [0.5, 0.5]}, "Number of priors must match number of classes"),
        (
            MultinomialNB,
            {"class_prior": [0.5, 0.6, -0.1]},
            "priors must be non-negative and finite; one of those given is -0.1",
        ),
        (MultinomialNB, {"class_alpha": [1.0, 2.0]}, "'class_alpha' has 2 numbers for 3 classes"),
        (MultinomialNB, {"alpha": "loo", "alphas": [0.0, 1.0]}, "'alphas' parameter"),
        (BernoulliNB, {"beta": (1.0,)}, "'beta' parameter is .*a pair"),
        (BernoulliNB, {"beta": (1.0, -2.0)}, "'beta' parameter is .*none below 0"),
        (BernoulliNB, {"beta": ([1.0, 1.0], 2.0)}, "a pair .* of numbers or arrays of 7 numbers"),
        (BernoulliNB, {"beta": (1.0, 2.0), "alpha": "loo"}, "leave 'beta' out"),
        (BernoulliNB, {"binarize": None}, "column 'x0' has other values"),
        (BernoulliNB, {"tune_intercept": True}, "needs two classes"),
        (ComplementNB, {"norm": "l2"}, "'norm' parameter"),
    ],
    ids=str,
)
def test_parameters_that_cannot_be_used_are_named(kind, options, message):
    X, y, _ = rows()
    with pytest.raises(ValueError, match=message):
        kind(**options).fit(X, y)


def test_a_statistic_of_levels_is_refused():
    levels = ClassCounts(np.array(["a"]), np.ones(1), np.ones(1, int), np.ones((1, 1)), (np.array([0]),))
    with pytest.raises(DataError, match="counts of columns"):
        MultinomialNB.from_statistic(levels)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", ["loo", "cv"])
def test_choosing_alpha_needs_the_rows(kind, how):
    X, y, _ = rows()
    with pytest.raises(ParameterError, match=f"alpha='{how}' needs the rows themselves"):
        kind(alpha=how).partial_fit(X, y)
    model = kind(alpha=how, cv=3).fit(X, y)
    chosen = model.alpha_
    assert model.partial_fit(X, y).alpha_ == chosen


@pytest.mark.parametrize("call", ["fit", "partial_fit"])
def test_counts_whose_sums_overflow_are_refused_in_the_words_of_counts(call):
    with pytest.raises(DataError, match="The sums of X overflow or X holds NaN or infinity"):
        getattr(MultinomialNB(), call)(np.full((6, 2), 1e308), [0, 0, 0, 1, 1, 1])
