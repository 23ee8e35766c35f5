"""``discrim roc``: the curve of a column of scores."""

from __future__ import annotations

import json

import numpy as np
import pytest

import discrim as library

pl = pytest.importorskip("polars")


@pytest.fixture
def scores(tmp_path):
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 200)
    frame = pl.DataFrame({"risk": rng.normal(size=200) + label, "back": np.where(label, "yes", "no"), "n": range(200)})
    frame.write_csv(tmp_path / "scores.csv")
    return tmp_path / "scores.csv", frame


def test_the_area_and_points_of_the_curve(discrim, scores, tmp_path):
    path, frame = scores
    done = discrim("roc", path, "-t", "back", "--score", "risk", "-o", tmp_path / "curve.csv")
    assert done.exit_code == 0, done.output
    curve = library.roc(frame["back"].to_list(), frame["risk"].to_numpy())
    low, high = curve.auc_ci()
    assert f"{curve.auc:.4f} (95% {low:.4f} to {high:.4f})" in done.stdout
    written = pl.read_csv(tmp_path / "curve.csv")
    np.testing.assert_array_equal(written["tpr"], curve.tpr)
    np.testing.assert_array_equal(written["threshold"], curve.thresholds)
    found = json.loads(discrim("roc", path, "-t", "back", "--score", "risk", "--json").stdout)
    assert found["auc"] == curve.auc
    assert (found["fpr"], found["thresholds"][0]) == (curve.fpr.tolist(), "inf")


def test_the_positive_class_may_be_named(discrim, scores):
    path, _ = scores
    at = [json.loads(discrim("roc", path, "-t", "back", "--score", "risk", "--json", *positive).stdout)["auc"]
          for positive in ([], ["--positive", "yes"], ["--positive", "no"])]  # fmt: skip
    assert at[0] == at[1]
    assert at[2] == pytest.approx(1 - at[0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Which column holds the classes? Pass --target COLUMN; the columns are 'risk', 'back', 'n'."),
        (["-t", "back"], "Which column holds the scores? Pass --score COLUMN"),
        (["-t", "back", "--score", "rsk"], "There is no column 'rsk'"),
        (["-t", "n", "--score", "risk"], "There are 200 classes: name one by --positive."),
        (["-t", "back", "--score", "risk", "--positive", "maybe"], "There is no class 'maybe'. The classes are"),
    ],
)
def test_a_mistake_is_reported_in_a_sentence(discrim, scores, arguments, message):
    done = discrim("roc", scores[0], *arguments)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())
