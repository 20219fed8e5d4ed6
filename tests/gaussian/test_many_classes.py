"""Many classes of few samples: not behind shrunk LDA, and the noise is seen as it is."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from rehead import RobustGaussianClassifier
from rehead.gaussian.anchors import anchor_transition
from rehead.gaussian.likelihood import WORTH_IT, LabelLikelihood
from rehead.gaussian.settings import SETTINGS
from rehead.gaussian.training import rows_for_noise

pytestmark = pytest.mark.filterwarnings("ignore::rehead.ReheadWarning")


def draw(n_classes, sizes, apart, seed=0, d=40):
    """Classes about random means; as many held-out samples of each class."""
    rng = np.random.default_rng(seed)
    means = apart * rng.normal(size=(n_classes, d))
    y = np.repeat(np.arange(n_classes), sizes)
    new = np.repeat(np.arange(n_classes), 5)
    X, X_new = (means[of] + rng.normal(size=(len(of), d)) for of in (y, new))
    return X.astype(np.float32), y, X_new.astype(np.float32), new


def corrupted(y, kind, rate, n_classes):
    rng = np.random.default_rng(1)
    away = rng.integers(1, n_classes, size=len(y)) if kind == "uniform" else 1
    return np.where(rng.random(len(y)) < rate, (y + away) % n_classes, y)


@pytest.mark.parametrize(
    ("sizes", "kind", "rate"),
    [(20, "uniform", 0.3), (20, "uniform", 0.0), (20, "flip", 0.3), (5, "uniform", 0.2)],
)
def test_not_behind_shrunk_lda_and_noise_within_five_points(sizes, kind, rate):
    X, y, X_new, new = draw(200, sizes, 1.1)
    labels = corrupted(y, kind, rate, 200)
    clf = RobustGaussianClassifier(feature_map="none", random_state=0).fit(X, labels)
    lda = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.05).fit(X, labels)
    assert clf.score(X_new, new) >= lda.score(X_new, new) - 0.005
    assert clf.noise_.wrong == pytest.approx((labels != y).mean(), abs=0.05)


def test_a_long_tail():
    sizes = np.maximum(300 // np.arange(1, 101), 5)
    X, y, X_new, new = draw(100, sizes, 1.2)
    labels = corrupted(y, "uniform", 0.3, 100)
    clf = RobustGaussianClassifier(feature_map="none", random_state=0).fit(X, labels)
    lda = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.05).fit(X, labels)
    assert clf.score(X_new, new) >= lda.score(X_new, new)
    assert clf.noise_.wrong == pytest.approx((labels != y).mean(), abs=0.05)


def test_small_classes_have_their_anchors_in_common():
    rng, C = np.random.default_rng(0), 200
    true = np.repeat(np.arange(C), 10)
    hard = rng.random(len(true)) < 0.5  # half of the samples look like another class, a little
    scores = 10.0 * np.eye(C)[true]
    scores[hard] = 1.0 * np.eye(C)[rng.integers(C, size=hard.sum())]
    scores += 0.1 * rng.random(scores.shape)
    found = anchor_transition(scores, true)
    assert np.diag(found.matrix).mean() > 0.97
    assert found.anchors.sum() >= SETTINGS.fewest_common_anchors


def test_more_rows_are_read_for_more_classes_as_far_as_there_is_memory():
    assert rows_for_noise(2) == SETTINGS.noise_sample
    assert rows_for_noise(50) * 50 == SETTINGS.usual_scores
    assert rows_for_noise(200) == SETTINGS.enough_rows < rows_for_noise(1000)
    assert rows_for_noise(5000) * 5000 == SETTINGS.most_scores
    assert rows_for_noise(100_000) == SETTINGS.enough_rows


def test_the_page_says_how_many_rivals_of_each_row_are_looked_at():
    kept = SETTINGS.near_classes
    all_of = WORTH_IT * kept - 1
    for n_classes, n_scores in ((all_of, all_of), (all_of + 1, kept)):
        scores, codes = np.zeros((3, n_classes)), np.zeros(3, int)
        found = LabelLikelihood.of(scores, codes, np.eye(n_classes), None)
        assert found.scores.shape[1] == n_scores
    page = (Path(__file__).parents[2] / "docs" / "auto.md").read_text(encoding="utf-8")
    assert (
        f"From {all_of + 1} classes on, the likelihood of a row is computed from {kept} of them: "
        f"its label and the {kept - 1} best others"
    ) in " ".join(page.split())
