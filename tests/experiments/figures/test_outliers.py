"""Figure 1c."""

import numpy as np
from scipy.spatial.distance import mahalanobis

from rehead.experiments.figures import outliers


def test_the_estimates_are_those_of_the_samples():
    content = outliers.collect()
    X = np.array(content["X"])
    assert len(X) == len(content["outlier"]) == 150
    for name, rows in (("sample", slice(None)), ("mcd", content["kept"])):
        centred = X[rows] - X[rows].mean(axis=0)
        found = content["estimates"][name]
        np.testing.assert_allclose(found["mean"], X[rows].mean(axis=0), atol=1e-4)
        np.testing.assert_allclose(
            found["covariance"], centred.T @ centred / len(centred), atol=1e-4
        )


def test_the_paper_keeps_half_and_few_outliers():
    content = outliers.collect()
    n, d = np.shape(content["X"])
    assert len(content["kept"]) == len(set(content["kept"])) == (n + d + 1) // 2
    outlier = np.array(content["outlier"])
    assert outlier[content["kept"]].mean() < outlier.mean() / 3


def test_the_mcd_has_the_smaller_determinant_and_the_better_mean():
    found = outliers.collect()["estimates"]
    determinant = {name: np.linalg.det(found[name]["covariance"]) for name in found}
    assert determinant["mcd"] < determinant["sample"]
    error = {n: np.linalg.norm(np.subtract(found[n]["mean"], outliers.MEAN)) for n in found}
    assert error["mcd"] < error["sample"] / 2


def test_the_kept_are_the_closest_once_the_steps_have_settled():
    """A C-step of the estimate that was reached changes little: it is near a local optimum."""
    content = outliers.collect()
    X = np.array(content["X"])
    found = content["estimates"]["mcd"]
    inverse = np.linalg.inv(found["covariance"])
    distance = [mahalanobis(x, found["mean"], inverse) for x in X]
    closest = set(np.argsort(distance)[: len(content["kept"])].tolist())
    assert len(closest & set(content["kept"])) > 0.9 * len(closest)


def test_an_ellipse_is_at_one_distance():
    covariance = np.array([[2.0, 0.7], [0.7, 0.5]])
    points = outliers.ellipse(np.array([1.0, -1.0]), covariance, 1.7)
    inverse = np.linalg.inv(covariance)
    np.testing.assert_allclose([mahalanobis(p, [1.0, -1.0], inverse) for p in points], 1.7)


def test_the_picture_shows_the_content(canvas):
    content = outliers.collect()
    outliers.draw(content, canvas)
    drawn = {line.get_label(): line.get_xydata() for line in canvas.axes[0].lines}
    X, outlier = np.array(content["X"]), np.array(content["outlier"], bool)
    kept = np.isin(np.arange(len(X)), content["kept"])
    np.testing.assert_array_equal(drawn["kept by the MCD"], X[kept & ~outlier])
    np.testing.assert_array_equal(drawn["outlier"], X[~kept & outlier])
    np.testing.assert_array_equal(drawn["left out"], X[~kept & ~outlier])
    found = content["estimates"]["mcd"]
    right = outliers.ellipse(np.array(found["mean"]), np.array(found["covariance"]))
    np.testing.assert_array_equal(drawn["MCD estimate"], right)
    legend = [text.get_text() for text in canvas.axes[0].get_legend().get_texts()]
    assert legend[-1] == "their means"
