"""Paths of coefficients, settings that were tried, balls of penalties."""

import numpy as np
import pytest

import discrim
from discrim import plots
from discrim.errors import ParameterError


def test_the_path_has_a_line_for_each_column_and_its_name(two_irises):
    found = discrim.logistic_path(*two_irises, cv=3)
    ax = found.plot()
    drawn = [line for line in ax.lines if len(line.get_xdata()) == len(found.lambdas)]
    assert len(drawn) == 4
    assert {"x0", "x1", "x2", "x3", "least", "1 s.e."} <= {text.get_text() for text in ax.texts}
    assert ax.xaxis_inverted()


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_paths_of_lasso_cross_validation_and_arrays(iris, two_irises):
    assert len(plots.path(discrim.LassoClassifier().fit(*iris), function=1).lines) > 3
    assert plots.path(discrim.LogisticRegressionCV(Cs=4, cv=3).fit(*two_irises)).lines
    assert plots.path([1.0, 0.1], [[0.0, 1.0], [2.0, 3.0]], names=["a", "b"]).texts[0].get_text() in "ab"
    with pytest.raises(ParameterError, match="from 0 to 2"):
        plots.path(discrim.LassoClassifier().fit(*iris), function=3)
    with pytest.raises(ParameterError, match="2 strengths and 1 name"):
        plots.path([1.0, 0.1], [[0.0, 1.0], [2.0, 3.0]], names=["a"])


def test_the_surface_of_two_settings_and_the_curve_of_one(iris):
    both = discrim.RegularizedDiscriminantAnalysis(alpha="cv", gamma="cv").fit(*iris)
    ax = plots.tuning(both)
    assert ax.collections[0].get_array().size == 121
    assert (ax.lines[0].get_xdata()[0], ax.lines[0].get_ydata()[0]) == pytest.approx((both.gamma_, both.alpha_))
    one = discrim.NearestCentroid(shrink_threshold="cv").fit(*iris)
    ax = plots.tuning(one)
    assert ax.lines[-1].get_xdata()[0] == pytest.approx(one.shrink_threshold_)
    assert np.allclose(np.sort(ax.lines[0].get_ydata()), np.sort(one.cv_results_["mean_error"]))


def test_cross_validated_paths_and_lasso_are_curves_too(two_irises):
    assert plots.tuning(discrim.logistic_path(*two_irises, cv=3)).get_ylabel() == "deviance of a row"
    assert plots.tuning(discrim.LassoClassifier(alpha="cv").fit(*two_irises)).get_ylabel() == "squared error"


def test_the_minimum_on_the_diamond_has_a_zero_and_on_the_disc_it_has_none():
    lasso, ridge = plots.penalties()
    assert "(0.80, 0.00)" in lasso.get_title(loc="left")
    assert "0.00" not in ridge.get_title(loc="left")
    with pytest.raises(ParameterError, match="positive definite"):
        plots.penalties(curvature=[[1, 2], [2, 1]])


@pytest.mark.parametrize("draw", [plots.path, plots.tuning])
def test_what_has_no_path_is_refused_in_words(draw, lda):
    with pytest.raises(ParameterError, match="LinearDiscriminantAnalysis has no"):
        draw(lda)
