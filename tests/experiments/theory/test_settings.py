from rehead.experiments.theory.settings import BASE, WORLDS, TheoremSettings


def test_every_world_satisfies_the_assumptions():
    for settings in (TheoremSettings.quick(), TheoremSettings.tiny()):
        for world in settings.worlds:
            assert all(world.assumptions(min(settings.sizes)).values()), world


def test_worlds_differ_from_the_first_in_one_thing():
    assert WORLDS[0] == BASE
    changed = [
        {name for name, value in vars(world).items() if value != getattr(BASE, name)}
        for world in WORLDS[1:]
    ]
    assert {len(names) for names in changed} == {1}
    every = {"d", "delta_out", "delta_mcd", "sigma", "sigma_out", "positions"}
    assert set.union(*changed) == every


def test_sizes_grow():
    for settings in (TheoremSettings.quick(), TheoremSettings.tiny()):
        for sizes in (settings.sizes, settings.factor_sizes, settings.replaced):
            assert list(sizes) == sorted(sizes)


def test_the_defaults_are_quick():
    assert TheoremSettings.quick(seed=3) == TheoremSettings(seed=3)
    assert TheoremSettings.tiny(seed=3).seed == 3
    assert TheoremSettings.tiny().name == "tiny"
