"""Labels of hard samples: guesses, or right."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from rehead import RobustGaussianClassifier, noise, score_labels
from rehead.gaussian.guesses import (
    FEWEST,
    Scored,
    disagreement,
    mean_of_least,
    means_in_deviations,
    temperature_of_margins,
    with_guesses,
)
from rehead.gaussian.labelnoise import NoiseModel, fit_noise
from rehead.gaussian.settings import SETTINGS
from rehead.gaussian.training import rows_for_noise


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def share_wrong(right):
    return 1.0 - float(right.mean())


def two_normals(rng, n=6000, apart=4.0):
    """Classes, and log odds that are calibrated."""
    true = rng.integers(2, size=n)
    x = rng.normal(size=n) + np.where(true == 1, apart / 2, -apart / 2)
    return true, np.column_stack([np.zeros(n), apart * x])


def judged(scores, labels):
    told = Scored(scores, labels, np.ones(len(labels)))
    return with_guesses(fit_noise(scores, labels), told, share_wrong)


@pytest.mark.parametrize("apart", [2.5, 4.0, 6.0])
@pytest.mark.parametrize("factor", [0.2, 1.0, 30.0])
def test_margins_tell_the_temperature_without_labels(rng, factor, apart):
    """Also where classes overlap, so that no sample has a negative margin."""
    _, scores = two_normals(rng, 50_000, apart)
    assert temperature_of_margins(factor * scores) == pytest.approx(factor, rel=0.03)


def test_margins_do_not_tell_how_near_classes_are(rng):
    """Below two standard deviations the answer is that of two."""
    _, scores = two_normals(rng, 50_000, apart=0.5)
    assert temperature_of_margins(scores) < 1.0
    sizes = np.abs(rng.normal(size=(1000, 1)))
    assert means_in_deviations((sizes**2).mean(0) / sizes.mean(0) ** 2) == SETTINGS.least_apart


def test_sizes_tell_where_a_normal_is(rng):
    for mean in (1.5, 3.0, 8.0, 40.0):
        sizes = np.abs(rng.normal(mean, size=200_000))
        found = means_in_deviations(np.array((sizes**2).mean() / sizes.mean() ** 2))
        assert found == pytest.approx(mean, rel=0.03)


def test_margins_of_several_classes(rng):
    means = 7.0 * np.eye(4)
    true = rng.integers(4, size=40_000)
    X = rng.normal(size=(40_000, 4)) + means[true]
    scores = X @ means.T - 0.5 * (means**2).sum(axis=1)
    assert temperature_of_margins(scores) == pytest.approx(1.0, rel=0.05)


def test_too_few_samples_tell_nothing(rng):
    assert temperature_of_margins(two_normals(rng, 40)[1]) is None
    assert temperature_of_margins(np.zeros((400, 3))) is None


def test_a_class_that_nothing_is_taken_for_is_left_out(rng):
    _, scores = two_normals(rng)
    with_third = np.column_stack([scores, np.full(len(scores), -1e3)])
    assert temperature_of_margins(with_third) == pytest.approx(temperature_of_margins(scores))


def test_overlap_is_not_taken_for_guesses(rng):
    true, scores = two_normals(rng, apart=2.0)  # one in six is on the wrong side
    found = judged(scores, true)
    assert found.guessed == 0.0
    assert found.least == 0.0
    assert found.most > 0.1


def test_classes_that_are_hardly_apart_may_be_clean(rng):
    y = rng.integers(3, size=3000)
    X = rng.normal(size=(3000, 4)) + np.sqrt(0.5) * np.eye(4)[y]
    found = RobustGaussianClassifier(random_state=0).fit(X, y).noise_
    assert found.least < 0.005


@pytest.mark.parametrize("rate", [0.1, 0.3])
def test_random_noise_is_not_taken_for_guesses(rng, rate):
    true, scores = two_normals(rng)
    found = judged(scores, np.where(rng.random(len(true)) < rate, 1 - true, true))
    assert found.guessed == 0.0
    assert found.least <= rate <= found.most
    assert found.wrong == pytest.approx(rate, abs=0.03)


def test_guesses_are_found_where_classes_are_apart(rng):
    true, scores = two_normals(rng, apart=5.0)
    sure = 1 / (1 + np.exp(-scores[:, 1] / 8))
    labels = (rng.random(len(true)) < sure).astype(int)
    found = judged(scores, labels)
    wrong = (labels != true).mean()
    assert wrong > 0.15
    assert found.guessed > 0.5
    assert abs(found.wrong - wrong) < 0.6 * abs(fit_noise(scores, labels).wrong - wrong)
    assert found.least <= wrong <= found.most


def test_what_is_seen_and_explained_by_brute_force(rng):
    true, scores = two_normals(rng, 500)
    model, told = fit_noise(scores, true), Scored(scores, true, rng.integers(1, 4, size=500) * 1.0)
    posterior = model.posterior(scores)
    share = told.counts / told.counts.sum()
    found = disagreement(model, posterior, told, lambda right: 1.0 - float(share @ right))
    tau = temperature_of_margins(scores, told.counts)
    seen = explained = overlap = wrong = 0.0
    doubts = []
    for s, p, y, n in zip(scores, posterior, true, told.counts, strict=True):
        odds = model.priors * np.exp((s - s.max()) / tau)
        q = odds / odds.sum()
        best = q.argmax()
        seen += n * (p.argmax() != y)
        explained += n * (1 - sum(q[c] * model.transition[c, best] for c in range(2)))
        overlap += n * (1 - q.max())
        wrong += n * (1 - q[y])
        doubts += [1 - q.max()] * int(n)
    assert np.allclose(found[:3], np.array([seen, explained, overlap]) / told.counts.sum())
    least = np.array(doubts)[doubts <= np.quantile(doubts, 0.3)]
    assert found.at_anchors == pytest.approx(least.mean(), rel=1e-6)
    assert found.wrong_guesses == pytest.approx(wrong / told.counts.sum())


def test_a_guess_says_nothing_that_features_do_not_say(rng):
    model = NoiseModel(1.0, np.full(2, 0.5), np.array([[0.9, 0.1], [0.1, 0.9]]), np.ones(2), 0.0, 0)
    p = np.array([[0.3, 0.7], [0.8, 0.2]])
    codes = np.array([0, 0])
    by_transition = model.given_label(p, codes)
    assert np.allclose(model._replace(guessed=1.0).given_label(p, codes), p)
    half = model._replace(guessed=0.5)
    assert np.allclose(half.given_label(p, codes), 0.5 * (p + by_transition))
    assert half.without_guesses() == model


@pytest.mark.filterwarnings("ignore:Most samples labelled 8")  # 65 % of these are wrong
def test_labels_of_annotators():
    """Half of the way, at least, from what T alone says to the truth, and a better order."""
    from sklearn.datasets import load_digits
    from sklearn.metrics import roc_auc_score

    X, y = load_digits(return_X_y=True)
    noisy = noise.annotator(X, y, 0.4, random_state=1)
    model = RobustGaussianClassifier(random_state=0).fit(X, noisy.labels)
    assert model.noise_.guessed > 0
    for label in range(10):
        of_label = noisy.labels == label
        assert abs(1 - model.trust_[of_label].mean() - noisy.changed[of_label].mean()) < 0.12
    assert model.noise_.least <= 0.4 <= model.noise_.most
    report = score_labels(model, X, noisy.labels)
    assert report.noise_least <= 0.4 <= report.noise_most
    assert report.noise_most - report.noise_least < 0.3
    assert abs(report.noise_rate - 0.4) < 0.04
    plain = RobustGaussianClassifier.from_fitted(model.fitted_)
    assert roc_auc_score(noisy.changed, 1 - report.quality) > 0.96
    assert np.array_equal(plain.predict(X), model.predict(X))


def test_guesses_mislead_stiff_gaussians_less():
    """Of an annotator's labels they make a better classifier; nothing has memorised them."""
    from sklearn.datasets import load_digits

    from rehead.gaussian import group_by_class
    from rehead.gaussian.anchored import are_guesses, stiff_gaussians, trusted_gaussians
    from rehead.gaussian.options import resolve_options
    from rehead.gaussian.training import training_rows

    X, y = load_digits(return_X_y=True)
    options = resolve_options("anchored", None, {}).options
    gains = []
    for seed in range(2):
        codes = noise.annotator(X, y, 0.4, random_state=seed).labels
        rows = training_rows(group_by_class(X, codes, 10), np.random.default_rng(0))
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("rehead.gaussian.anchored.are_guesses", lambda found: False)
            found = trusted_gaussians(rows, options)
        assert are_guesses(found.noise)
        stiff = stiff_gaussians(rows, found, options)
        assert stiff.noise.guessed >= found.noise.guessed
        right = [(g.gaussians.scores(X).argmax(axis=1) == y).mean() for g in (found, stiff)]
        gains.append(right[1] - right[0])
    assert np.mean(gains) > 0


@pytest.mark.parametrize("kind", ["uniform", "flip"])
def test_digits_with_random_noise_are_not_guessed(kind):
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    labels = getattr(noise, kind)(y, 0.3, random_state=0).labels
    found = RobustGaussianClassifier(random_state=0).fit(X, labels).noise_
    assert found.guessed == 0.0
    assert found.least <= 0.3 <= found.most
    assert found.most - found.least < 0.12


@pytest.mark.filterwarnings("ignore:Most samples labelled 8")
def test_it_survives_a_file(tmp_path):
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    labels = noise.annotator(X, y, 0.4, random_state=1).labels
    model = RobustGaussianClassifier(random_state=0).fit(X, labels)
    model.save(tmp_path / "head.safetensors")
    loaded = RobustGaussianClassifier.load(tmp_path / "head.safetensors")
    for name in ("guessed", "least", "most", "wrong"):
        assert getattr(loaded.noise_, name) == getattr(model.noise_, name)
    again = score_labels(loaded, X, labels)
    assert np.array_equal(again.quality, score_labels(model, X, labels).quality)


def test_weights_are_repetitions(rng):
    true, scores = two_normals(rng, 300)
    labels = np.where(rng.random(300) < 0.2, 1 - true, true)
    counts = rng.integers(1, 4, size=300)
    repeated = np.repeat(np.arange(300), counts)
    model = fit_noise(scores, labels, counts=counts * 1.0)
    one = with_guesses(
        model,
        Scored(scores, labels, counts * 1.0),
        lambda right: 1.0 - float(np.average(right, weights=counts)),
    )
    other = with_guesses(
        model, Scored(scores[repeated], labels[repeated], np.ones(len(repeated))), share_wrong
    )
    assert one.least == pytest.approx(other.least)
    assert one.most == pytest.approx(other.most)
    assert one.guessed == pytest.approx(other.guessed)


def test_classes_have_no_offsets_where_labels_are_guesses():
    """They would follow the guesses."""
    from sklearn.datasets import load_digits

    from rehead.gaussian import group_by_class
    from rehead.gaussian.anchored import are_guesses, calibrated_fit, trusted_gaussians
    from rehead.gaussian.options import resolve_options
    from rehead.gaussian.training import training_rows

    X, y = load_digits(return_X_y=True)
    options = resolve_options("anchored", None, {}).options
    kinds = {
        "annotator": noise.annotator(X, y, 0.4, random_state=1),
        "uniform": noise.uniform(y, 0.4),
    }
    for kind, noisy in kinds.items():
        rows = training_rows(group_by_class(X, noisy.labels, 10), np.random.default_rng(0))
        found = trusted_gaussians(rows, options)
        assert are_guesses(found.noise) == (kind == "annotator")
        # Empirical priors are those of the samples: they add nothing to a calibration.
        fit = calibrated_fit(rows, found, "empirical")
        log_odds = np.log(fit.gaussians.posterior(X[:50])) - found.gaussians.scores(X[:50]) / (
            fit.gaussians.temperature
        )
        assert (np.ptp(log_odds, axis=1).max() < 1e-3) == (kind == "annotator")


def test_counting_errors_matter_where_labels_are_hard_to_judge(rng):
    """Far apart, it is plain which labels are wrong; then only counting them leaves a range."""
    T = np.array([[0.7, 0.3], [0.3, 0.7]])
    model = NoiseModel(1.0, np.full(2, 0.5), T, np.full(2, 40.0), 0.0, 0.3)
    assert model.rate_error > 0.04
    widths = []
    for apart in (3.0, 8.0):
        true, scores = two_normals(rng, 4000, apart)
        labels = np.where(rng.random(4000) < 0.3, 1 - true, true)
        found = with_guesses(model, Scored(scores, labels, np.ones(4000)), share_wrong)
        assert found.least - 1e-3 <= (labels != true).mean() <= found.most + 1e-3
        widths.append(found.most - found.least)
    assert widths[0] > 0.05
    assert widths[1] < 4.0 * np.sqrt(0.3 * 0.7 / 4000) + 0.005 < widths[0]


@pytest.mark.parametrize("seed", [0, 1])
def test_overlap_that_a_map_sees_is_not_taken_for_guesses(seed):
    """Margins on a map of two columns are not normal; all labels are right."""
    X, y = make_moons(1500, noise=0.35, random_state=seed)
    model = RobustGaussianClassifier(random_state=0).fit(X, y)
    assert model.fitted_.kernel_map is not None
    assert model.noise_.guessed == 0.0
    assert model.noise_.least == 0.0


def apart(n_classes, n, rng):
    """Scores of classes that overlap a little, in as many directions."""
    true = rng.integers(n_classes, size=n)
    means = 4.0 * np.eye(n_classes)
    X = rng.normal(size=(n, n_classes)) + means[true]
    return X @ means.T - 0.5 * (means**2).sum(axis=1)


def test_margins_of_some_rows_tell_where_there_are_enough_samples(rng):
    """Of many classes only some rows are read; how many there are of each is another thing."""
    n = rows_for_noise(80)
    assert n < 80 * SETTINGS.enough_of_each
    scores, counts = 3.0 * apart(80, n, rng), np.ones(n)
    assert temperature_of_margins(scores, counts) is None
    found = temperature_of_margins(scores, counts, 80 * SETTINGS.enough_of_each)
    assert found == pytest.approx(3.0, rel=0.15)
    assert temperature_of_margins(scores, counts, 80 * SETTINGS.enough_of_each - 1) is None
    # Of few rows, those classes seem frequent that swallow others.
    few = slice(FEWEST * 80 - 1)
    assert temperature_of_margins(scores[few], counts[few], 1e6) is None


@pytest.mark.filterwarnings("ignore::rehead.ReheadWarning")
def test_guesses_are_found_among_many_classes(rng):
    n, d = 80 * SETTINGS.enough_of_each, 30
    means = 0.6 * rng.normal(size=(80, d))
    true = np.arange(n) % 80
    X = means[true] + rng.normal(size=(n, d))
    vague = 0.4 * (X @ means.T - 0.5 * (means**2).sum(axis=1))
    labels = (vague + rng.gumbel(size=vague.shape)).argmax(axis=1)
    assert RobustGaussianClassifier("anchored", random_state=0).fit(X, labels).noise_.guessed > 0.1


def test_least_doubt_is_that_of_rows_that_count(rng):
    doubt, counts = rng.random(200), rng.integers(0, 4, size=200).astype(float)
    doubt[counts == 0] = 0.0
    repeated = np.repeat(doubt, counts.astype(int))
    surest = repeated <= np.quantile(repeated, SETTINGS.anchor_shares[0])
    assert mean_of_least(doubt, counts) == pytest.approx(repeated[surest].mean())
    plain = rng.random(997)
    surest = plain <= np.quantile(plain, SETTINGS.anchor_shares[0])
    assert mean_of_least(plain, np.ones(997)) == pytest.approx(plain[surest].mean(), rel=1e-12)
