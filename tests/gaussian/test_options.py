"""Options, presets, and what of them an estimator uses."""

from dataclasses import asdict

import numpy as np
import pytest

from rehead.gaussian.options import (
    OPTIONS,
    PRESETS,
    USAGE,
    Options,
    check_priors,
    name_estimator,
    resolve_options,
)


@pytest.mark.parametrize("name", USAGE)
def test_an_estimator_uses_options_that_exist_and_sets_defaults_only_of_those(name):
    usage = USAGE[name]
    assert usage.options <= set(OPTIONS)
    own, usual = asdict(usage.defaults), asdict(Options())
    assert {option for option in OPTIONS if own[option] != usual[option]} <= usage.options
    assert resolve_options(name, None, {}) == (name, usage.defaults, frozenset())


def test_presets_set_every_option():
    for name, preset in PRESETS.items():
        assert set(preset) == {"estimator", *OPTIONS}
        estimator, options, _ = resolve_options(None, name, dict.fromkeys(OPTIONS))
        assert {"estimator": estimator, **asdict(options)} == preset


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, "auto"),
        ({"max_steps": 3}, "auto"),
        ({"shrinkage": 0.1, "start": None}, "auto"),
        ({"priors": "uniform"}, "auto"),
    ],
)
def test_where_no_estimator_is_named_it_is_the_default(given, expected):
    estimator, options, asked = resolve_options(None, None, given)
    assert estimator == expected
    set_by_user = {name: value for name, value in given.items() if value is not None}
    assert asked == set_by_user.keys()
    assert asdict(options) == asdict(USAGE[expected].defaults) | set_by_user


@pytest.mark.parametrize("option", sorted(set(OPTIONS) - USAGE["auto"].options))
def test_options_of_other_estimators_never_change_it_in_silence(option):
    with pytest.raises(ValueError, match=rf"'auto', the default, does not use {option}\..*mcd"):
        resolve_options(None, None, {option: 1})


@pytest.mark.parametrize(
    ("params", "measured", "named"),
    [
        ({"estimator": None, "priors": "empirical"}, False, "mcd"),
        ({"estimator": None, "n_starts": 3, "preset": None}, False, "mcd"),
        ({"estimator": None, "priors": "empirical"}, True, None),
        ({"estimator": None, "shrinkage": 0.1}, False, None),
        ({"estimator": None, "feature_map": "kernel"}, False, None),
        ({"estimator": "lts", "support_fraction": 0.6}, False, "lts"),
        ({"estimator": None, "preset": "paper"}, False, None),
    ],
)
def test_a_saved_model_is_called_what_it_was(params, measured, named):
    assert name_estimator(params, measured=measured)["estimator"] == named


@pytest.mark.parametrize("estimator", USAGE)
@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_that_would_not_be_used_is_refused_and_its_users_are_named(estimator, option):
    value = {
        "support_fraction": 0.6,
        "start": "pooled",
        "leave_one_out": True,
        "priors": "uniform",
        "feature_map": "kernel",
        "labels_from": "machine",
    }
    given = {option: value.get(option, 1)}
    if option in USAGE[estimator].options:
        assert getattr(resolve_options(estimator, None, given).options, option) == given[option]
        return
    with pytest.raises(ValueError, match=f"does not use {option}") as error:
        resolve_options(estimator, None, given)
    named = str(error.value).split("that does: ")[1].rstrip(".").split(", ")
    assert named == sorted(name for name in USAGE if option in USAGE[name].options)


def test_options_that_no_estimator_takes_together():
    # Every option has a user; "mcd" has all but who made the labels, which is for the default.
    assert USAGE["mcd"].options == set(OPTIONS) - {"labels_from"}
    with pytest.raises(ValueError, match=r"does not use n_starts, start.*: mcd\.$"):
        resolve_options("sample", None, {"n_starts": 2, "start": "random"})


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"support_fraction": 0.0}, "support_fraction must be in"),
        ({"support_fraction": True}, "support_fraction must be in"),
        ({"max_steps": 0}, "max_steps must be a whole number"),
        ({"n_starts": 1.5}, "n_starts must be a whole number"),
        ({"start": "radnom"}, "Did you mean 'random'"),
        ({"start": "pooled", "n_starts": 2}, "needs start='random'"),
        ({"shrinkage": -0.1}, "shrinkage must be in"),
        ({"leave_one_out": 1}, "leave_one_out must be True or False"),
        ({"feature_map": "kernal"}, "feature_map must be one of .* Did you mean 'kernel'"),
        ({"feature_map": True}, "feature_map must be one of"),
    ],
)
def test_values_that_make_no_sense_are_refused(given, match):
    with pytest.raises(ValueError, match=match):
        resolve_options("mcd", None, given)


@pytest.mark.parametrize(("estimator", "given"), [("mcd", {}), (None, {"shrinkage": 0.5})])
def test_a_preset_takes_no_other_settings(estimator, given):
    with pytest.raises(ValueError, match=r"preset='paper' already sets (estimator|shrinkage)"):
        resolve_options(estimator, "paper", given)


@pytest.mark.parametrize("estimator", USAGE)
def test_features_are_mapped_where_it_is_asked_for_or_by_the_choice_of_the_default(estimator):
    usual = "auto" if estimator == "auto" else "none"
    assert resolve_options(estimator, None, {}).options.feature_map == usual
    for asked in ("auto", "none", "kernel"):
        found = resolve_options(estimator, None, {"feature_map": asked})
        assert found.options.feature_map == asked


def test_presets_stay_linear():
    for preset in PRESETS:
        assert resolve_options(None, preset, {}).options.feature_map == "none"
        with pytest.raises(ValueError, match="already sets feature_map"):
            resolve_options(None, preset, {"feature_map": "kernel"})


def test_priors_are_words_or_probabilities_of_the_classes():
    classes = np.array(["a", "b"])
    assert check_priors("empirical", classes) == "empirical"
    np.testing.assert_array_equal(check_priors([0.25, 0.75], classes), [0.25, 0.75])
    assert check_priors([0.3, 0.7 + 1e-9], classes).sum() == 1.0
    for bad in ([0.5, 0.6], [1.5, -0.5], [1.0], "even", [None, 1.0], [[0.5, 0.5]]):
        with pytest.raises(ValueError, match="priors must be"):
            check_priors(bad, classes)
    options = Options(priors=[0.25, 0.75]).with_priors(classes)
    assert options.priors.tolist() == [0.25, 0.75]
