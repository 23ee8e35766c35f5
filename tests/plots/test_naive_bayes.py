"""The graph of naive Bayes."""

import pytest

import discrim
from discrim import plots
from discrim.errors import ParameterError


def words(ax):
    return [text.get_text() for text in ax.texts if text.get_text()]


def test_an_arrow_leads_from_the_class_to_each_column(iris):
    ax = plots.graph(discrim.GaussianNB().fit(*iris), target="species")
    assert words(ax) == ["species", "x0", "x1", "x2", "x3"]
    assert sum(text.get_text() == "" for text in ax.texts) == 4


def test_of_many_columns_some_are_drawn():
    ax = plots.graph([f"gene {j}" for j in range(4026)])
    assert words(ax)[1:] == ["gene 0", "gene 1", "gene 2", "…", "gene 4025", "drawn: 4 of 4,026 columns"]


@pytest.mark.parametrize("model", [discrim.MultinomialNB(), discrim.BernoulliNB(), discrim.MixedNB()])
def test_every_naive_bayes_has_it(model, iris):
    assert len(words(plots.graph(model.fit(*iris)))) == 5


@pytest.mark.parametrize("model", [discrim.LinearDiscriminantAnalysis(), discrim.LogisticRegression()])
def test_others_do_not(model, iris):
    with pytest.raises(ParameterError, match="has no columns that are independent within the classes"):
        plots.graph(model.fit(*iris))
    with pytest.raises(ParameterError, match="no column"):
        plots.graph([])
