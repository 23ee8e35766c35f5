"""The summary prints like R's, fits the page, and gives its numbers back."""

from __future__ import annotations

import copy
import pickle
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from discrim import LogisticRegression, RidgeClassifier, SGDClassifier
from discrim.errors import MissingDependencyError, ParameterError
from discrim.inference.summary import Summary, Table, pipeline_summary

CARS = np.array(
    [
        [9.617781, 6.959593, 1.381946, 0.1779152],
        [-3.916504, 0.711202, -5.506882, 6.952711e-06],
        [1.225886, 0.288670, 4.246676, 2.161737e-04],
        [2.935837, 1.410905, 2.080819, 0.04671551],
    ]
)
CARS_PRINTED = """\
Linear regression

Rows:      32
R-squared: 0.84966

Coefficients:
            Estimate Std. Error t value Pr(>|t|)
(Intercept)    9.618     6.9596   1.382 0.177915
wt            -3.917     0.7112  -5.507 6.95e-06 ***
qsec           1.226     0.2887   4.247 0.000216 ***
am             2.936     1.4109   2.081 0.046716 *
---
Signif. codes:  0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1 ' ' 1"""


def cars_table():
    names, columns = ["(Intercept)", "wt", "qsec", "am"], ["Estimate", "Std. Error", "t value", "Pr(>|t|)"]
    return Table("Coefficients", names, columns, CARS, p_columns=("Pr(>|t|)",))


def cars():
    facts = {"Rows": 32, "R-squared": 0.8496636}
    return Summary("Linear regression", facts, [cars_table()], coef=CARS[:, 0], deviance=169.2859)


def wide(rows=42, columns=12):
    values = np.random.default_rng(0).normal(size=(rows, columns))
    return Table("Means", [f"class {i}" for i in range(rows)], [f"column {j}" for j in range(columns)], values)


def lines_of(table):
    return str(Summary("t", {}, [table])).splitlines()


def test_a_summary_prints_like_the_one_of_r():
    assert str(cars()) == CARS_PRINTED
    assert repr(cars()) == CARS_PRINTED


def test_points_stand_under_each_other():
    lines = lines_of(Table("t", ["a", "b", "c"], ["x", "y"], [[1.5, -3.25], [100.0, 4.0], [-0.25, 1.0]]))[4:]
    assert len({tuple(i for i, c in enumerate(line) if c == ".") for line in lines}) == 1


def test_a_wide_table_is_printed_in_groups_of_columns_that_fit():
    lines = lines_of(wide(rows=5))
    heads = [line.split("column ")[1:] for line in lines if "column " in line]
    assert max(map(len, lines)) <= 80
    assert len(heads) > 1
    assert [int(j) for head in heads for j in head] == list(range(12))
    assert sum(line.startswith("class 4 ") for line in lines) == len(heads)


@pytest.mark.parametrize(("width", "fits"), [(17, True), (18, False)])
def test_a_group_of_columns_fills_the_page_to_its_last_place(width, fits):
    # Two places for the row names, then four columns, each after a space.
    columns = [str(j) * size for j, size in enumerate([19, 19, 19, width], start=1)]
    lines = lines_of(Table("t", ["ab"], columns, [[1, 2, 3, 4]]))
    assert (lines[3].split() == columns) == fits
    assert max(map(len, lines)) == (80 if fits else 62)


def test_thirty_rows_are_shown_and_the_others_counted():
    lines = lines_of(wide(columns=2))
    assert lines[-2].startswith("class 29 ")
    assert lines[-1] == "... and 12 more rows"
    assert lines_of(wide(rows=32, columns=2))[-1] == "... and 2 more rows"
    assert lines_of(wide(rows=31, columns=2))[-1].startswith("class 30 ")
    assert lines_of(wide(rows=30, columns=2))[-1].startswith("class 29 ")


def test_thousands_of_columns_do_not_flood_the_page():
    lines = lines_of(wide(rows=3, columns=4026))
    assert lines[-1] == "... and 3,966 more columns"
    assert len(lines) < 100


@pytest.mark.parametrize("length", [10, 33, 300])
def test_long_names_and_words_still_fit_the_page(length):
    name = "n" * length
    table = Table(name, [name, "b"], [name, "y"], [[name, 1.0], ["w", 2.0]])
    printed = str(Summary(name, {name: 3, "where": "some words " * 30}, [table]))
    assert max(map(len, printed.splitlines())) <= 80


def test_a_line_break_in_a_name_does_not_break_the_table():
    assert len(lines_of(Table("t", ["a\nb"], ["x\ty"], [[1.0]]))) == len(
        lines_of(Table("t", ["a b"], ["x y"], [[1.0]]))
    )


def test_words_numbers_and_gaps_can_stand_in_one_table():
    table = Table("Prior", ["a", "b"], ["class", "rows", "share"], [["yes", 3, 0.25], ["no way", None, 0.5]])
    assert lines_of(table)[2:] == [
        "Prior:",
        "  class  rows share",
        "a yes       3  0.25",
        "b no way       0.50",
    ]


def test_a_table_without_rows_says_so():
    assert lines_of(Table("Steps", [], ["x"], [], p_columns=("x",)))[2:] == ["Steps:", "(no rows)"]


class Reader(HTMLParser):
    """Collects the cells by tag, and complains of tags that are not closed in order."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.cells = [], [], []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.append((tag, dict(attrs)))
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1] in ("td", "th"):
            self.cells[-1] += data


def test_the_page_holds_the_printed_cells():
    cells = [cell.split() for cell in Reader(cars()._repr_html_()).cells]
    printed = str(cars())
    assert ["6.95e-06", "***"] in cells
    assert all(word in printed for cell in cells for word in cell)


def test_the_page_needs_no_other_file_and_runs_nothing():
    page = Reader(cars()._repr_html_())
    assert {tag for tag, _ in page.tags} & {"script", "link", "img", "iframe"} == set()
    assert not any({"href", "src"} & attrs.keys() for _, attrs in page.tags)


def test_names_are_escaped_everywhere():
    evil = "<script>alert('&')</script>"
    table = Table(evil, [evil], [evil, "p"], [[evil, 0.5]], p_columns=("p",))
    summary = Summary(evil, {evil: evil}, [table])
    for page in (summary._repr_html_(), table._repr_html_()):
        assert "<script" not in page
        assert evil in Reader(page).cells


def test_values_are_attributes_and_missing_ones_are_explained():
    summary = cars()
    assert summary.deviance == 169.2859
    assert summary.coef is not None
    message = "This summary has no 'std_err'; it has 'coef', 'deviance', 'facts', 'tables', 'title'."
    with pytest.raises(AttributeError) as caught:
        summary.std_err  # noqa: B018 - the access is the test
    assert str(caught.value) == message
    assert not hasattr(summary, "aic")


@pytest.mark.parametrize("name", ["tables", "facts", "to_frame"])
def test_a_value_cannot_take_the_place_of_a_part_of_the_summary(name):
    with pytest.raises((ParameterError, TypeError)):
        Summary("t", {}, [], **{name: 1})


def test_a_summary_can_be_copied_and_pickled():
    for other in (copy.deepcopy(cars()), pickle.loads(pickle.dumps(cars()))):
        assert str(other) == CARS_PRINTED
        assert other.deviance == 169.2859


def test_the_main_table_comes_first_as_a_frame():
    pytest.importorskip("pandas")
    summary = Summary("t", {}, [cars_table(), wide()])
    frame = summary.to_frame()
    assert frame.loc["wt", "Pr(>|t|)"] == 6.952711e-06
    assert list(frame.index) == ["(Intercept)", "wt", "qsec", "am"]
    assert summary.to_frame("Means").shape == (42, 12)


def test_a_frame_of_words_and_numbers_keeps_both_kinds():
    pytest.importorskip("pandas")
    for values in ([["yes", 3], ["no", 4]], np.array([["yes", 3], ["no", 4]], dtype=object)):
        frame = Summary("t", {}, [Table("t", ["a", "b"], ["word", "rows"], values)]).to_frame()
        assert frame["rows"].dtype == np.int64
        assert frame["word"].tolist() == ["yes", "no"]


def test_an_unknown_table_is_refused_by_the_titles_there_are():
    with pytest.raises(ParameterError, match="'title' parameter is 'Loadings'; it must be one of 'Coefficients'"):
        cars().to_frame("Loadings")
    with pytest.raises(ParameterError, match="no tables"):
        Summary("t", {}, []).to_frame()


def test_without_pandas_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingDependencyError, match=r"Summary.to_frame\(\) needs the package 'pandas'"):
        cars().to_frame()


@pytest.mark.parametrize(
    ("index", "values", "p_columns", "message"),
    [
        (["a"], [[1, 2], [3, 4]], (), "'2 rows'; it must be 1 row of 2 values"),
        (["a", "b"], [[1, 2], [3]], (), "1 value in row 'b'"),
        (["a"], [[1, 2]], ("z",), "'p_columns' parameter is 'z'; it must be among 'x', 'y'"),
    ],
)
def test_a_table_that_does_not_add_up_is_refused(index, values, p_columns, message):
    with pytest.raises(ParameterError, match=message):
        Table("t", index, ["x", "y"], values, p_columns=p_columns)


def test_a_table_may_say_how_many_rows_it_prints():
    numbers = np.arange(58.0)[:, None]
    table = Table("Numbers", [f"row{i}" for i in range(58)], ["value"], numbers, most_rows=56)
    assert "row55" in str(table)
    assert "row56" not in str(table)
    assert str(table).endswith("... and 2 more rows")


class TestPipelines:
    @pytest.fixture
    def table(self):
        pd = pytest.importorskip("pandas")
        rng = np.random.default_rng(0)
        age, income = rng.normal(size=(2, 80))
        frame = pd.DataFrame({"age": age, "income": income, "town": rng.choice(["a", "b"], 80)})
        return frame, (age + rng.normal(size=80) > 0).astype(int)

    @pytest.mark.parametrize("model", [LogisticRegression(C=np.inf), RidgeClassifier(), SGDClassifier(random_state=0)])
    def test_columns_have_the_names_that_the_steps_before_give_them(self, table, model):
        X, y = table
        columns = make_column_transformer(
            (StandardScaler(), ["age", "income"]),
            (OneHotEncoder(drop="first"), ["town"]),
            verbose_feature_names_out=False,
        )
        pipeline = make_pipeline(columns, model).fit(X, y)
        names = ["(Intercept)", "age", "income", "town_b"]
        assert list(pipeline_summary(pipeline).tables[0].index) == names
        assert_allclose(np.asarray(pipeline_summary(pipeline).tables[0]), np.asarray(pipeline[-1].summary().tables[0]))
        assert list(pipeline[-1].summary().tables[0].index) == ["(Intercept)", "x0", "x1", "x2"]

    def test_without_names_the_summary_is_that_of_the_model(self, table):
        X, y = table[0][["age", "income"]], table[1]
        nameless = make_pipeline(FunctionTransformer(np.asarray), LogisticRegression()).fit(X, y)
        assert pipeline_summary(nameless).names == ["(Intercept)", "x0", "x1"]
        single = make_pipeline(LogisticRegression(C=np.inf)).fit(X, y)
        found = pipeline_summary(single, cov_type="HC0")
        assert (found.names, found.cov_type) == (["(Intercept)", "age", "income"], "HC0")

    def test_what_is_no_fitted_pipeline_of_ours_is_refused(self):
        with pytest.raises(NotFittedError):
            pipeline_summary(make_pipeline(StandardScaler(), LogisticRegression()))
        with pytest.raises(
            ParameterError, match=r"'pipeline' parameter is .* a Pipeline that ends in a model of discrim"
        ):
            pipeline_summary(make_pipeline(StandardScaler()))
