"""The noise model: temperature and trust from scores and labels."""

import dataclasses
import re

import numpy as np
import pytest

from rehead.gaussian.labelnoise import NoiseModel, fit_noise
from rehead.gaussian.settings import SETTINGS


def test_planted_noise_is_recovered(planted):
    noise = fit_noise(planted.scores, planted.labels)
    np.testing.assert_allclose(noise.transition, planted.T, atol=0.05)
    np.testing.assert_allclose(noise.priors, planted.priors, atol=0.02)
    assert noise.temperature == pytest.approx(1.0, abs=0.15)
    assert noise.rate == pytest.approx(0.5 * 0.3 + 0.3 * 0.1 + 0.2 * 0.4, abs=0.02)


def test_the_standard_error_is_that_of_repeated_draws():
    rng = np.random.default_rng(0)
    found = []
    for _ in range(60):
        true = rng.integers(2, size=600)
        labels = np.where(rng.random(600) < 0.3, 1 - true, true)
        found.append(fit_noise(9.0 * np.eye(2)[true] + 0.01 * rng.random((600, 2)), labels))
    spread = np.std([noise.rate for noise in found])
    assert np.mean([noise.rate_error for noise in found]) == pytest.approx(spread, rel=0.3)


def test_clean_labels_give_the_identity_and_no_noise(planted):
    scores, true = planted.scores, planted.true
    noise = fit_noise(scores, true)
    assert noise.rate < 0.005 + 2 * noise.rate_error
    assert noise.trust(scores, true).mean() > 0.99
    # Hard samples, which the scores get wrong, are trusted all the same.
    wrong = scores.argmax(axis=1) != true
    assert wrong.sum() > 50
    assert noise.trust(scores, true)[wrong].mean() > 0.5


def test_trust_is_calibrated(planted):
    scores, true, labels = planted.scores, planted.true, planted.labels
    trust = fit_noise(scores, labels).trust(scores, labels)
    for low, high in ((0.0, 0.1), (0.1, 0.5), (0.5, 0.9), (0.9, 1.0)):
        chosen = (trust >= low) & (trust <= high)
        assert (labels == true)[chosen].mean() == pytest.approx(trust[chosen].mean(), abs=0.06)


@pytest.mark.parametrize("factor", [0.2, 5.0, 40.0])
def test_the_temperature_undoes_a_scale_of_the_scores(planted, factor):
    scores, labels = planted.scores, planted.labels
    plain, scaled = fit_noise(scores, labels), fit_noise(factor * scores, labels)
    low, high = np.exp([-1.0, 6.0])
    assert scaled.temperature == pytest.approx(
        np.clip(factor * plain.temperature, low, high), rel=0.02
    )


def test_temperatures_stay_in_the_range_of_the_settings(planted, monkeypatch):
    narrow = dataclasses.replace(SETTINGS, log_temperatures=(0.5, 1.0))
    monkeypatch.setattr("rehead.gaussian.labelnoise.SETTINGS", narrow)
    for factor, log_temperature in ((0.1, 0.5), (40.0, 1.0)):
        noise = fit_noise(factor * planted.scores[:500], planted.labels[:500])
        assert np.log(noise.temperature) == pytest.approx(log_temperature, abs=0.01)


def test_trust_is_bayes_rule(planted):
    scores, labels = planted.scores, planted.labels
    noise = fit_noise(scores, labels)
    i = 17
    p = np.exp(scores[i] / noise.temperature) * noise.priors
    joint = p / p.sum() * noise.transition[:, labels[i]]
    given_label = noise.posterior_given_label(scores, labels)[i]
    np.testing.assert_allclose(given_label, joint / joint.sum())
    np.testing.assert_allclose(noise.posterior(scores)[i], p / p.sum())
    assert noise.trust(scores, labels)[i] == given_label[labels[i]]


def test_weights_are_trust_with_its_odds_to_some_power(planted):
    scores, labels = planted.scores[:300], planted.labels[:300]
    noise = fit_noise(scores, labels)
    trust = noise.trust(scores, labels)
    np.testing.assert_allclose(noise.sample_weights(scores, labels), trust)
    weights = noise.sample_weights(scores, labels, power=2.0)
    some = (trust > 1e-6) & (trust < 1 - 1e-6)
    odds = trust[some] / (1 - trust[some])
    np.testing.assert_allclose(weights[some] / (1 - weights[some]), odds**2, rtol=1e-4)


def test_the_share_of_wrong_labels_is_the_mean_doubt(planted):
    scores, true, labels = planted.scores, planted.true, planted.labels
    noise = fit_noise(scores, labels)
    assert noise.wrong == pytest.approx(1 - noise.trust(scores, labels).mean())
    assert noise.wrong == pytest.approx((true != labels).mean(), abs=0.02)


def test_whole_counts_are_repetitions(planted):
    counts = np.random.default_rng(0).integers(0, 3, size=900)
    scores, labels = planted.scores[:900], planted.labels[:900]
    rows = np.repeat(np.arange(900), counts)
    a = fit_noise(scores, labels, counts=counts.astype(float))
    for mine, theirs in zip(a, fit_noise(scores[rows], labels[rows]), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)


def test_a_matrix_that_is_given_is_used(planted):
    noise = fit_noise(planted.scores, planted.labels, planted.T)
    assert noise.transition is planted.T
    assert noise.temperature == pytest.approx(1.0, abs=0.1)


def test_arrays_of_a_file_give_it_back(planted):
    noise = fit_noise(planted.scores[:500], planted.labels[:500])
    assert "noise.guessed" not in noise.to_arrays("noise.")  # nobody looked at hard samples
    noise = noise._replace(guessed=0.2, least=0.1, most=0.3, checked=50.0)
    arrays = noise.to_arrays("noise.")
    assert sorted(arrays) == sorted(f"noise.{field}" for field in noise._fields)
    for mine, theirs in zip(noise, NoiseModel.from_arrays(arrays, "noise."), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    # Where the share of wrong labels was not written, it is the rate.
    del arrays["noise.wrong"]
    assert NoiseModel.from_arrays(arrays, "noise.").wrong == noise.rate


def test_the_verdict_calls_labels_clean_only_within_the_error(planted):
    noise = fit_noise(planted.scores, planted.labels)
    assert noise.verdict() == (
        f"About {noise.wrong:.0%} of the labels are wrong, or too hard to tell by these features."
    )
    clean = noise._replace(wrong=SETTINGS.standard_errors * noise.rate_error)
    assert clean.verdict() == "The labels are about clean."
    anything = clean._replace(least=0.0, most=0.97)
    assert "do not tell how many labels are wrong: up to 97% may be" in anything.verdict()


@pytest.mark.parametrize(
    ("wrong", "least", "most", "said"),
    [
        (0.07, 0.02, 0.31, "unclear from so few clear samples: between 2% and 31%"),
        (0.07, np.nan, np.nan, "unclear from so few clear samples: between 0% and"),
        (0.7, 0.68, 0.72, r"About 70% .* \(68% to 72%\)"),
    ],
)
def test_what_is_unclear_has_a_range_of_some_width(planted, wrong, least, most, said):
    noise = fit_noise(planted.scores, planted.labels)
    noise = noise._replace(wrong=wrong, least=least, most=most)
    unclear = noise._replace(anchors=np.full(len(noise.anchors), 2.0))
    assert unclear.rate_error > SETTINGS.told_share
    assert re.search(said, unclear.verdict())
