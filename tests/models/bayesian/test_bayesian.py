"""Bayesian discriminants: the prior and how it is chosen, the posterior that is shown, and hostile rows."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import softmax
from scipy.stats import multivariate_t, t
from sklearn.base import clone

from discrim import (
    BayesianLinearDiscriminantAnalysis,
    BayesianQuadraticDiscriminantAnalysis,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    cross_validate,
    datasets,
    merge,
)
from discrim.errors import CollinearWarning, DataError, ParameterError, SingularClassError

BQ, BL = BayesianQuadraticDiscriminantAnalysis, BayesianLinearDiscriminantAnalysis
both = pytest.mark.parametrize("kind", [BQ, BL])


def classes_of(sizes, p, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.normal(size=(len(y), p)) @ rng.normal(size=(p, p)) * (1 + y[:, None])
    return X + rng.normal(size=(len(sizes), p))[y], y


def by_definition(kind, X, y, Psi, nu, new, priors):
    """log pi_k + log density of the Student-t, from dense matrices."""
    labels, p = np.unique(y), X.shape[1]
    scatters = [(X[y == k] - X[y == k].mean(axis=0)).T @ (X[y == k] - X[y == k].mean(axis=0)) for k in labels]
    scores = []
    for k, label in enumerate(labels):
        n = (y == label).sum()
        scatter, m = (scatters[k], n - 1) if kind is BQ else (sum(scatters), len(y) - len(labels))
        df = nu + m - p + 1
        density = multivariate_t(X[y == label].mean(axis=0), (Psi + scatter) * (1 + 1 / n) / df, df)
        scores.append(np.log(priors[k]) + density.logpdf(new))
    return np.transpose(scores)


class TestTheRule:
    sizes = (5, 30, 11)

    @both
    @pytest.mark.parametrize("target", ["identity", "diagonal"])
    @pytest.mark.parametrize("p", [3, 60], ids=["long", "wide"])
    def test_mahalanobis_distances_are_by_the_scale_of_the_predictive_density(self, kind, p, target):
        X, y = classes_of(self.sizes, p)
        new = classes_of((4, 4), p, seed=1)[0]
        model = kind(psi=2.0, nu=p + 2.0, target=target).fit(X, y)
        away = [X[y == k] - X[y == k].mean(axis=0) for k in range(3)]
        pooled, expected = sum(each.T @ each for each in away), []
        unit = np.eye(p) if target == "identity" else np.diag(sum((each**2).sum(axis=0) for each in away) / 46)
        for k, n in enumerate(self.sizes):
            scatter, m = (away[k].T @ away[k], n - 1) if kind is BQ else (pooled, 46 - 3)
            scale = (2.0 * unit + scatter) * (1 + 1 / n) / (p + 2.0 + m - p + 1)
            gap = new - X[y == k].mean(axis=0)
            expected.append(np.einsum("ij,ji->i", gap, np.linalg.solve(scale, gap.T)))
        assert_allclose(model.mahalanobis(new), np.transpose(expected), rtol=1e-7)

    @both
    @pytest.mark.parametrize("p", [3, 60], ids=["long", "wide"])
    def test_classes_of_unequal_size_are_weighed_by_the_whole_density(self, kind, p):
        X, y = classes_of(self.sizes, p)
        new = classes_of((4, 4), p, seed=1)[0]
        shares = np.array(self.sizes) / 46
        variances = sum(((X[y == k] - X[y == k].mean(axis=0)) ** 2).sum(axis=0) for k in range(3)) / 46
        for psi, unit, settings in (
            (2.0, np.eye(p), {"target": "identity"}),
            (2.0, np.diag(variances), {}),
            (1.0, np.diag(np.linspace(1, 2, p)), {"psi": np.linspace(1, 2, p)}),
            (1.0, np.eye(p) + 0.5, {"psi": np.eye(p) + 0.5}),
        ):
            model = kind(**{"psi": psi, **settings}).fit(X, y)
            scores = by_definition(kind, X, y, psi * unit, p + 2, new, shares)
            assert_allclose(model.predict_proba(new), softmax(scores, axis=1), rtol=1e-8, atol=1e-10)
            assert_allclose(model.log_density(new), scores - np.log(shares), rtol=1e-10)
            assert_array_equal(model.predict(new), np.argmax(scores, axis=1))

    def test_a_number_a_vector_and_a_matrix_say_the_same(self):
        X, y = classes_of(self.sizes, 4)
        expected = BQ(3.0, target="identity").fit(X, y).predict_log_proba(X)
        for psi in ([3.0] * 4, 3.0 * np.eye(4)):
            assert_allclose(BQ(psi).fit(X, y).predict_log_proba(X), expected, rtol=1e-10, atol=1e-12)

    @both
    def test_a_dirichlet_prior_of_the_classes_gives_its_predictive_mean(self, kind):
        X, y = classes_of(self.sizes, 3)
        assert_allclose(kind(class_prior_alpha=2.0).fit(X, y).priors_, np.array([7, 32, 13]) / 52)

    @both
    def test_a_class_of_prior_zero_has_a_density_and_no_posterior(self, kind):
        X, y = classes_of(self.sizes, 3)
        model, plain = kind(priors=[0.5, 0.5, 0.0]).fit(X, y), kind().fit(X, y)
        assert (model.predict_proba(X)[:, 2] == 0).all()
        assert_allclose(model.log_density(X), plain.log_density(X), rtol=1e-12)

    def test_many_rows_make_it_qda_and_lda(self):
        X, y = classes_of((20_000, 30_000), 3)
        for kind, plain in ((BQ, QuadraticDiscriminantAnalysis), (BL, LinearDiscriminantAnalysis)):
            assert_allclose(kind().fit(X, y).predict_proba(X), plain().fit(X, y).predict_proba(X), atol=2e-3)

    @both
    def test_units_of_the_columns_do_not_matter(self, kind):
        X, y = classes_of(self.sizes, 4)
        other = X * [1e-6, 1.0, 1e4, 1e9] + [1e-3, 0.0, 1e5, 0.0]
        for settings in ({}, {"psi": 0.5}, {"nu": "evidence"}, {"psi": "loo"}):
            one, two = kind(**settings).fit(X, y), kind(**settings).fit(other, y)
            assert two.psi_ == pytest.approx(one.psi_, rel=1e-7)
            assert_allclose(two.predict_proba(other), one.predict_proba(X), rtol=1e-6, atol=1e-9)


class TestChoosing:
    @both
    def test_the_default_works_untouched_and_uses_p_plus_two(self, kind):
        for X, y in (datasets.load_iris().xy, datasets.load_crabs(log=True).xy, classes_of((6, 5, 1), 40)):
            model = kind().fit(X, y)
            assert model.nu_ == X.shape[1] + 2
            assert model.psi_ > 0
            assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
            better = [kind(psi=f * model.psi_).fit(X, y).log_evidence_ for f in (0.9, 1.1)]
            assert model.log_evidence_ > max(better)

    def test_it_holds_out_better_than_qda_where_rows_are_few(self):
        X, y = classes_of((14, 14), 10)
        bayesian, plain = (cross_validate(m, X, y, cv="loo") for m in (BQ(), QuadraticDiscriminantAnalysis()))
        assert bayesian.log_loss < plain.log_loss

    @both
    def test_evidence_of_both_is_at_least_that_of_psi_alone(self, kind):
        X, y = datasets.load_iris().xy
        one, two = kind().fit(X, y), kind(nu="evidence").fit(X, y)
        given = kind(psi=one.psi_, nu="evidence").fit(X, y)
        assert two.log_evidence_ >= given.log_evidence_ >= one.log_evidence_
        assert given.psi_ == one.psi_

    @both
    def test_leave_one_out_chooses_the_psi_of_the_best_held_out_density(self, kind):
        X, y = classes_of((9, 14), 3)
        model = kind("loo", target="identity").fit(X, y)

        def held_out(psi):
            rows = np.arange(len(y))
            fits = (kind(psi, target="identity").fit(X[rows != i], y[rows != i]) for i in rows)
            return sum(fit.log_density(X[i : i + 1])[0, y[i]] for i, fit in enumerate(fits))

        best = held_out(model.psi_)
        assert best > held_out(0.9 * model.psi_)
        assert best > held_out(1.1 * model.psi_)

    def test_parts_keep_what_leave_one_out_chose_and_choose_the_evidence_anew(self):
        X, y = classes_of((30, 30), 3)
        X, y = X[::-1], y[::-1]
        chosen = BQ("loo").fit(X[::2], y[::2])
        psi = chosen.psi_
        chosen.partial_fit(X[1::2], y[1::2])
        assert chosen.psi_ == psi
        assert_allclose(chosen.predict_proba(X), BQ(psi).fit(X, y).predict_proba(X), rtol=1e-9)
        assert BQ().fit(X[::2], y[::2]).partial_fit(X[1::2], y[1::2]).psi_ == pytest.approx(BQ().fit(X, y).psi_)
        with pytest.raises(DataError, match="'loo' needs the rows themselves: use fit first"):
            BQ("loo").partial_fit(X, y).predict(X)
        assert merge(BQ("loo").fit(X, y), BQ("loo").fit(X, y)).psi_ == BQ("loo").fit(X, y).psi_
        with pytest.raises(DataError, match="chose different settings"):
            merge(BQ("loo").fit(X, y), BQ("loo").fit(X[::2], y[::2]))
        again = chosen.set_params(psi=1.0).fit(X, y)
        assert again.psi_ == 1.0

    def test_what_cannot_be_chosen_is_said(self):
        X, y = classes_of((20, 20), 3)
        with pytest.raises(ParameterError, match="chosen in the same way"):
            BQ("loo", "evidence").fit(X, y)
        with pytest.raises(ParameterError, match="proper prior, nu > p - 1 = 2; nu is 1"):
            BQ(nu=1).fit(X, y)
        with pytest.raises(ParameterError, match="psi is 0"):
            BQ(0, "evidence").fit(X, y)
        with pytest.raises(ParameterError, match="rows without weights"):
            BQ("loo").fit(X, y, np.linspace(1, 2, 40))
        with pytest.raises(ParameterError, match="Give the class probabilities, or the strength"):
            BQ(priors=[0.5, 0.5], class_prior_alpha=1.0).fit(X, y)
        with pytest.raises(AttributeError, match="proper prior"):
            _ = BQ(1.0, 0).fit(X, y).log_evidence_


class TestThePosterior:
    X, y = datasets.load_iris().xy

    @both
    def test_mean_and_covariance_of_a_class(self, kind):
        model = kind(2.0, 9.0, target="identity").fit(self.X, self.y)
        own = self.X[self.y == "setosa"]
        posterior = model.posterior("setosa")
        centred = self.X - np.array([self.X[self.y == label].mean(axis=0) for label in self.y])
        rows = own - own.mean(axis=0) if kind is BQ else centred
        m = len(rows) - (1 if kind is BQ else 3)
        assert posterior.nu == 9 + m
        assert_allclose(posterior.scale, 2 * np.eye(4) + rows.T @ rows, rtol=1e-10)
        assert_allclose(posterior.covariance, posterior.scale / (9 + m - 5))
        assert_allclose(posterior.mode, posterior.scale / (9 + m + 5))
        assert_allclose(posterior.mean, own.mean(axis=0))
        ends = posterior.confint(level=0.9)
        df = 9 + m - 4 + 1
        for j in range(4):
            expected = t(df, own[:, j].mean(), np.sqrt(posterior.scale[j, j] / (50 * df))).interval(0.9)
            assert_allclose(ends[j], expected, rtol=1e-10)
        assert ends.names == model._names

    @both
    def test_wide_intervals_need_no_matrix_of_columns_by_columns(self, kind):
        X, y = classes_of((8, 9), 30)
        posterior = kind().fit(X, y).posterior(1)
        assert_allclose(posterior.mean_scale, np.sqrt(np.diag(posterior.scale) / (9 * posterior.mean_df)), rtol=1e-10)

    def test_what_is_not_there_is_said(self):
        model = BQ(0, 0).fit(self.X[:, :3], self.y)
        with pytest.raises(ParameterError, match="a class with rows, one of 'setosa', 'versicolor', 'virginica'"):
            model.posterior("rose")
        few = BQ(1.0, 3.0).fit(self.X[[0, 1, 50, 51], :3], self.y[[0, 1, 50, 51]])
        with pytest.raises(ParameterError, match="needs nu > p \\+ 1 = 4 after the rows, and nu is 4"):
            _ = few.posterior("setosa").covariance
        with pytest.raises(ParameterError, match="level"):
            model.posterior("setosa").confint(level=2)


class TestHostileRows:
    def test_too_few_degrees_of_freedom_are_counted_out(self):
        X, y = classes_of((4, 30), 6)
        with pytest.raises(ParameterError, match=r"class '0' has nu \+ 3 - p \+ 1 = -2 .* give more than 2\."):
            BQ(1.0, 0).fit(X, y)
        with pytest.raises(ParameterError, match=r"the classes together have nu \+ 2 - p \+ 1 = -3 .* more than 3\."):
            BL(1.0, 0).fit(X[[0, 1, 4, 5]], y[[0, 1, 4, 5]])

    @pytest.mark.parametrize(("kind", "which"), [(BQ, "Class '0' has"), (BL, "The classes have")])
    def test_without_a_prior_a_singular_class_is_named(self, kind, which):
        X, y = classes_of((30, 30), 3)
        X = np.column_stack([X, X[:, 0] + X[:, 1]])
        with pytest.raises(SingularClassError, match=f"{which} no variance in some directions.*'x"):
            kind(0, 10).fit(X, y)
        assert np.isfinite(kind().fit(X, y).predict_log_proba(X)).all()

    @both
    def test_constant_columns_are_left_out_with_a_warning(self, kind):
        X, y = classes_of((20, 20), 3)
        wider = np.column_stack([X, np.full(40, 7.0), 3.0 * y])
        with pytest.warns(CollinearWarning, match="Columns 'x3', 'x4' are constant within the classes"):
            model = kind().fit(wider, y)
        plain = kind().fit(X, y)
        assert model.nu_ == 5
        assert_allclose(model.predict_log_proba(wider), plain.predict_log_proba(X), rtol=1e-10, atol=1e-12)
        assert model.log_evidence_ == pytest.approx(plain.log_evidence_)
        assert model.posterior(0).names == ["x0", "x1", "x2"]
        kept = kind(1.0, target="identity").fit(wider, y)
        assert np.isfinite(kept.predict_log_proba(wider)).all()

    @both
    def test_one_row_a_class_needs_a_scale(self, kind):
        X, y = np.arange(6.0).reshape(2, 3), [0, 1]
        with pytest.raises(DataError, match="No column varies within a class"):
            kind().fit(X, y)
        with pytest.raises(DataError, match="no variance within the classes to choose the prior by"):
            kind(target="identity").fit(X, y)
        assert_allclose(kind(1.0, target="identity").fit(X, y).predict_proba([[1.5, 2.5, 3.5]]), [[0.5, 0.5]])

    @both
    def test_one_class_is_not_enough(self, kind):
        with pytest.raises(DataError, match="greater than one"):
            kind().fit(np.eye(3), [1, 1, 1])

    @both
    @pytest.mark.parametrize("p", [4, 50], ids=["long", "wide"])
    @pytest.mark.parametrize("target", ["diagonal", "identity"])
    def test_sparse_and_single_precision_rows_are_the_same_rows(self, kind, p, target):
        X, y = classes_of((15, 15), p)
        X[np.abs(X) < 0.5] = 0.0
        model = kind(target=target)
        expected = clone(model).fit(X, y).predict_proba(X)
        assert_allclose(
            clone(model).fit(sparse.csr_array(X), y).predict_proba(sparse.csr_array(X)), expected, atol=1e-9
        )
        single = clone(model).fit(X.astype(np.float32), y).predict_proba(X.astype(np.float32))
        assert single.dtype == np.float32
        assert_allclose(single, expected, atol=2e-4)

    @both
    @pytest.mark.parametrize("scale", [1e-120, 1e120])
    def test_huge_and_tiny_numbers_give_the_same_posteriors(self, kind, scale):
        X, y = classes_of((15, 15), 3)
        for target in ("diagonal", "identity"):
            expected = kind(target=target).fit(X, y).predict_proba(X)
            assert_allclose(kind(target=target).fit(scale * X, y).predict_proba(scale * X), expected, atol=1e-8)

    @both
    def test_a_declared_class_without_rows_cannot_be_predicted(self, kind):
        X, y = classes_of((15, 15), 3)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = kind(class_prior_alpha=1.0).partial_fit(X, y, classes=[0, 1, 2])
            found = model.predict_proba(X)
        assert (found[:, 2] == 0).all()
        assert_allclose(found[:, :2], kind(class_prior_alpha=1.0).fit(X, y).predict_proba(X), rtol=1e-10)
        assert np.isneginf(model.log_density(X)[:, 2]).all()
        assert str(model.summary())

    @both
    def test_weights_count_rows(self, kind):
        X, y = classes_of((12, 15), 3)
        weight = np.arange(27) % 3 + 1
        again = np.repeat(np.arange(27), weight)
        for settings in ({}, {"nu": "evidence"}, {"psi": 1.0, "nu": 4}):
            found, expected = kind(**settings).fit(X, y, weight), kind(**settings).fit(X[again], y[again])
            assert_allclose(found.predict_proba(X), expected.predict_proba(X), rtol=1e-8, atol=1e-12)

    @both
    def test_rows_far_away_have_no_finite_score_or_a_right_one(self, kind):
        X, y = classes_of((15, 15), 2)
        model = kind().fit(X, y)
        assert np.isfinite(model.predict_log_proba(X * 1e100)).all()
        with pytest.raises(DataError, match="overflow"):
            model.predict(X * 1e200)
        with pytest.raises(DataError, match="column 'x1' has 1 NaN"):
            model.predict([[0.0, np.nan]])
