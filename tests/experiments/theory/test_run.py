import json
from dataclasses import asdict

from rehead.experiments.theory import TheoremSettings, run_theorem


def figures_in(value):
    """All measured figures of a result."""
    if isinstance(value, dict):
        if "se" in value:
            yield value
        for inner in value.values():
            yield from figures_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from figures_in(inner)


def test_the_seed_decides(tiny):
    assert run_theorem(TheoremSettings.tiny()) == tiny
    other = run_theorem(TheoremSettings.tiny(seed=1))
    assert [c["runs"] for c in other["cells"]] != [c["runs"] for c in tiny["cells"]]
    assert [c["claims"] for c in other["cells"]] == [c["claims"] for c in tiny["cells"]]


def test_a_result_is_ready_for_json(tiny):
    assert json.loads(json.dumps(tiny, allow_nan=False)) == tiny
    settings = json.loads(json.dumps(asdict(TheoremSettings.tiny())))
    assert tiny["settings"] == settings


def test_every_figure_has_a_standard_error(tiny):
    found = list(figures_in(tiny))
    assert len(found) > 300
    assert all(f["se"] >= 0 for f in found)
    assert sum(f["se"] > 0 for f in found) > 300


def test_sections_do_not_share_draws(tiny):
    settings = TheoremSettings.tiny()
    fewer = run_theorem(
        TheoremSettings(**{**vars(settings), "worlds": settings.worlds[:2], "repeats": 2})
    )
    for section in ("factor", "counterexamples", "breakdown", "enumerated", "skewed"):
        assert fewer[section] == tiny[section]


def test_progress_runs_from_nothing_to_all():
    calls = []
    run_theorem(TheoremSettings.tiny(), lambda text, share: calls.append((text, share)))
    shares = [share for _, share in calls]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    assert calls[0][0] == "world 1 of 3"


def test_phi_does_not_depend_on_the_scale(tiny):
    assert 0 <= tiny["phi_scale_change"] < 1e-12
