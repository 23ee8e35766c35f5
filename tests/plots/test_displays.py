"""scikit-learn's own displays take our models as they take theirs."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.calibration import CalibrationDisplay
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.metrics import ConfusionMatrixDisplay, PrecisionRecallDisplay, RocCurveDisplay, roc_auc_score

import discrim
from discrim import plots
from discrim.errors import DataError

BINARY = [
    discrim.LinearDiscriminantAnalysis(),
    discrim.QuadraticDiscriminantAnalysis(),
    discrim.RegularizedDiscriminantAnalysis(),
    discrim.LogisticRegression(),
    discrim.GaussianNB(),
    discrim.LeastSquaresClassifier(),
    discrim.OnePassLogisticRegression(),
]


@pytest.fixture
def ax():
    return Figure().subplots()


@pytest.fixture
def two(two_irises):
    X, y = two_irises
    return X[:, :2], (y == "virginica").astype(int)


@pytest.mark.parametrize("model", BINARY, ids=lambda model: type(model).__name__)
def test_curves_of_scikit_learn(model, two, ax):
    X, y = two
    model = model.fit(X, y)
    shown = RocCurveDisplay.from_estimator(model, X, y, ax=ax)
    score = model.decision_function(X) if hasattr(model, "decision_function") else model.predict_proba(X)[:, 1]
    assert shown.roc_auc == pytest.approx(roc_auc_score(y, score))
    assert discrim.roc(y, score).auc == pytest.approx(shown.roc_auc)
    assert len(PrecisionRecallDisplay.from_estimator(model, X, y, ax=ax).recall) > 2
    assert len(ConfusionMatrixDisplay.from_estimator(model, X, y, ax=ax).confusion_matrix) == 2


@pytest.mark.parametrize("model", [m for m in BINARY if hasattr(m, "predict_proba")], ids=lambda m: type(m).__name__)
def test_calibration_of_scikit_learn(model, two, ax):
    shown = CalibrationDisplay.from_estimator(model.fit(*two), *two, n_bins=5, ax=ax)
    assert np.allclose(shown.y_prob, model.predict_proba(two[0])[:, 1])


@pytest.mark.parametrize("response", ["predict", "predict_proba", "decision_function"])
@pytest.mark.parametrize("model", BINARY[:4], ids=lambda model: type(model).__name__)
def test_boundaries_of_scikit_learn(model, response, two, iris, ax):
    for X, y in (two, (iris[0][:, :2], iris[1])):
        codes = np.unique(y, return_inverse=True)[1]
        shown = DecisionBoundaryDisplay.from_estimator(
            model.fit(X, codes), X, response_method=response, grid_resolution=20, ax=ax
        )
        assert shown.xx0.shape == (20, 20)


def test_rows_with_gaps_are_left_out_of_a_first_look_and_counted():
    X = np.random.default_rng(0).normal(size=(20, 3))
    X[3, 1] = X[5, 0] = np.nan
    y = np.repeat(["a", "b"], 10)
    said = plots.points(X, y, columns=(0, 1)).texts[-1].get_text().replace("\n", " ")
    assert said == "18 of 20 rows drawn; 2 with missing values are not"
    matrix = plots.pairs(X, y)
    assert any("18 of 20 rows drawn" in text.get_text() for text in matrix[0, 0].figure.texts)
    with pytest.raises(DataError, match="column 'x1' has 20 NaN"):
        plots.points(np.column_stack([X[:, 2], np.full(20, np.nan)]))


def test_models_around_models_draw_rows_as_they_were_fitted_to_them():
    pandas = pytest.importorskip("pandas", reason="needs pandas for a table of mixed columns")
    rng = np.random.default_rng(0)
    table = pandas.DataFrame({"age": rng.normal(40, 10, 90), "town": rng.choice(["Rome", "Laval", "Oxford"], 90)})
    y = np.where(table["age"] + rng.normal(size=90) > 40, "yes", "no")
    compared = discrim.compare(table, y, models=["LDA"], cv=3)
    assert "90 rows x 2 columns (3 when coded), 2 classes" in compared.title
    bars = compared.best.plot(table, y).patches
    assert sum(bar.get_height() for bar in bars) == 90
    words = discrim.TextClassifier().fit(
        ["an early bird", "a bird", "the late worm", "one worm"] * 3, ["p", "p", "q", "q"] * 3
    )
    assert words.plot(["a bird"], ["p"]).get_xlabel() == words.plot().get_xlabel()
    formula = discrim.LogisticRegression.from_formula("label ~ age + town", table.assign(label=y))
    assert formula.plot(table).get_xlabel().startswith("coefficient per standard deviation")
