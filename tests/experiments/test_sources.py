"""Features of networks: all layers in order, labels where they belong, one maker at a time."""

import dataclasses
import threading

import numpy as np
import pytest
import torch

from rehead.experiments import cache as cache_module
from rehead.experiments import sources
from rehead.experiments.cache import Cache, digest
from rehead.experiments.noisy import TrainSettings, noisy_task
from rehead.experiments.profiles import settings_of
from rehead.experiments.sources import (
    LABELLER,
    TrainedNetwork,
    features_of,
    load_task,
    spent_before,
    train_network,
)
from rehead.experiments.tables import table_cells
from rehead.torch.models import MODELS
from rehead.torch.training import RECIPES, classifier

SETTINGS = TrainSettings(
    model="fcn", noise="uniform", rate=0.3, epochs=2, model_options={"hidden": (8, 6)}
)


@pytest.fixture(autouse=True)
def _fewer_threads():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path)


def test_a_task_is_what_the_network_was_trained_on(cache):
    task, facts = load_task(TrainedNetwork(SETTINGS), cache)
    data = noisy_task(SETTINGS)
    np.testing.assert_array_equal(task.train.y, data.labels)
    np.testing.assert_array_equal(task.validation.y, data.validation_labels)
    np.testing.assert_array_equal(task.test.y, data.splits.test.y)
    np.testing.assert_array_equal(task.truth, data.splits.train.y)
    np.testing.assert_array_equal(task.changed, task.train.y != task.truth)
    np.testing.assert_array_equal(task.train.layers["input"], data.splits.train.X)
    assert list(task.train.layers) == list(task.test.layers) == ["input", "hidden1", "hidden2"]
    assert task.taps == ("hidden1", "hidden2")
    assert set(task.taps) <= set(task.auto)
    assert task.n_classes == task.test.outputs.shape[1] == 10
    assert task.noise_rate == pytest.approx(0.3, abs=0.01)
    assert facts["parameters"] == 64 * 8 + 8 + 8 * 6 + 6 + 6 * 10 + 10
    fitted = (task.train.outputs.argmax(axis=1) == task.train.y).mean()
    assert facts["fitted"] == pytest.approx(fitted)
    assert facts["seconds"] > 0 < facts["cpu_seconds"]


def test_a_task_comes_from_the_cache_as_it_was_made(cache, monkeypatch):
    made, facts = load_task(TrainedNetwork(SETTINGS), cache)
    monkeypatch.setattr(TrainedNetwork, "make", None)
    found, again = load_task(TrainedNetwork(SETTINGS), cache)
    assert again == facts
    assert (found.taps, found.auto, found.n_classes) == (made.taps, made.auto, made.n_classes)
    for part in ("train", "validation", "test"):
        a, b = getattr(made, part), getattr(found, part)
        assert list(a.layers) == list(b.layers)
        for name in a.layers:
            np.testing.assert_array_equal(a.layers[name], b.layers[name])
        np.testing.assert_array_equal(a.outputs, b.outputs)


def test_time_before_an_interruption_counts(tmp_path):
    assert spent_before(tmp_path / "nothing") == (0, 0)
    (tmp_path / "first").mkdir()
    old, new = '{"epoch": 1, "seconds": 2.0}', '{"epoch": 1, "seconds": 40.0, "cpu_seconds": 30.0}'
    (tmp_path / "first" / "log.jsonl").write_text(f"{old}\n")
    (tmp_path / "log.jsonl").write_text(f'{new}\n{new}\n{{"epoch": 3, "sec')
    assert spent_before(tmp_path) == (82, 62)
    _, facts = train_network(SETTINGS, tmp_path)
    assert 82 < facts["seconds"] < 142
    assert 62 < facts["cpu_seconds"] < 122
    _, again = train_network(SETTINGS, tmp_path)
    # Nothing is trained any more, and the log has the two epochs that were.
    assert 0 < again["cpu_seconds"] < 30


def test_nothing_is_left_of_the_work(cache):
    source = TrainedNetwork(SETTINGS)
    cache.working(source.what).mkdir(parents=True)
    load_task(source, cache)
    assert not cache.working(source.what).exists()


@pytest.mark.parametrize("field", [f.name for f in dataclasses.fields(TrainSettings)])
def test_every_setting_is_part_of_the_description(field):
    other = {
        "data": "cifar10",
        "noise": "flip",
        "labels": np.zeros(3),
        "rate": 0.31,
        "validation": 0.2,
        "limit": 7,
        "epochs": 3,
        "labeller_options": {"width": 3},
        "model_options": {"hidden": (8, 7)},
        "method_options": {"ramp": 3},
        "outside": ("x",),
        "seed": 1,
    }.get(field, "other")
    changed = dataclasses.replace(SETTINGS, **{field: other})
    assert digest(TrainedNetwork(changed).what) != digest(TrainedNetwork(SETTINGS).what)


def test_descriptions_of_what_is_in_caches_stay_what_they_are():
    """Networks that took hours are found by them."""
    cell = table_cells("5")[0]
    assert digest(TrainedNetwork(settings_of(cell)).what) == "86848c130fb7492d"


def test_a_new_version_makes_everything_anew(monkeypatch):
    before = digest(TrainedNetwork(SETTINGS).what)
    monkeypatch.setattr(sources, "FEATURES_VERSION", 2)
    assert digest(TrainedNetwork(SETTINGS).what) != before


def test_features_do_not_depend_on_the_number_of_threads(tmp_path):
    """Two threads add up in another order, and the weights go another way."""
    cell = table_cells("2", "tiny", data="digits")[0]
    source = TrainedNetwork(dataclasses.replace(settings_of(cell), epochs=1, limit=300))
    outputs = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        outputs.append(source.make(Cache(tmp_path / str(threads)))["test/outputs"])
        assert torch.get_num_threads() == threads
    np.testing.assert_array_equal(*outputs)


@pytest.mark.parametrize("name", ["resnet34", "densenet100", "resnet44-wide", "cnn9", "vgg13"])
def test_layers_go_from_the_input_to_the_penultimate_one(name):
    cell = next(
        cell
        for table in "2346"
        for cell in table_cells(table, "quick")
        if name in (cell.network, cell.labeller)
    )
    settings = settings_of(cell)
    options = settings.model_options if cell.network == name else settings.labeller_options
    net = MODELS[name](10, **options).eval()
    data = noisy_task(TrainSettings(data="digits32", noise="uniform", rate=0.2, limit=20))
    arrays = features_of(net, data)
    layers = [key.removeprefix("train/layer/") for key in arrays if key.startswith("train/layer/")]
    taps, auto = arrays["taps"].tolist(), arrays["auto"].tolist()
    assert len(set(layers)) == len(layers)
    assert layers[0] == "input"
    assert layers[-1] == taps[-1] == net.feature_layers[-1]
    assert set(layers) == {"input", *net.block_layers, *taps, *auto}
    # In the order in which the network runs them.
    order = []
    hooks = [
        net.get_submodule(layer).register_forward_hook(lambda *_, n=layer: order.append(n))
        for layer in layers[1:]
    ]
    net(torch.zeros(1, 3, 32, 32, dtype=torch.uint8))
    for hook in hooks:
        hook.remove()
    assert layers[1:] == order
    # What goes into the last layer is the penultimate one.
    last = torch.from_numpy(arrays[f"test/layer/{layers[-1]}"])
    linear = [m for m in net.modules() if isinstance(m, torch.nn.Linear)][-1]
    with torch.no_grad():
        logits = linear(last)
    np.testing.assert_allclose(logits.numpy(), arrays["test/outputs"], rtol=1e-4, atol=1e-4)


# Labellers


@pytest.fixture
def semantic(monkeypatch):
    short = dataclasses.replace(RECIPES["quick-labeller"], epochs=1, augment=())
    monkeypatch.setitem(RECIPES, "quick-labeller", short)
    return dataclasses.replace(SETTINGS, noise="semantic", rate=0.1, labeller="fcn")


def count_labellers(monkeypatch):
    """Folders of labellers that were trained, and not just read."""
    taught, train = [], classifier.train

    def counted(*arguments, **options):
        folder = options["run"].folder
        if not (folder / "checkpoint.safetensors").exists():
            taught.append(folder)
        return train(*arguments, **options)

    monkeypatch.setattr(classifier, "train", counted)
    return taught


def test_one_labeller_serves_all_methods(cache, semantic, monkeypatch):
    taught = count_labellers(monkeypatch)
    plain, _ = load_task(TrainedNetwork(semantic), cache)
    other = dataclasses.replace(semantic, method="bootstrap-soft", epochs=1)
    soft, _ = load_task(TrainedNetwork(other), cache)
    np.testing.assert_array_equal(plain.train.y, soft.train.y)
    assert len(taught) == 1
    load_task(TrainedNetwork(dataclasses.replace(semantic, seed=1)), cache)
    assert len(taught) == 2


def test_one_labeller_serves_quick_recipes(cache, semantic, monkeypatch):
    """Else a comparison of the two would be one of labels, too."""
    taught = count_labellers(monkeypatch)
    plain, _ = load_task(TrainedNetwork(semantic), cache)
    other = dataclasses.replace(semantic, recipe="quick-augmented")
    folders = {sources.taught_labeller(settings, cache) for settings in (semantic, other)}
    assert len(folders) == len(taught) == 1
    torch.set_num_threads(1)
    for folder in (*folders, cache.folder / "anew"):
        np.testing.assert_array_equal(plain.train.y, noisy_task(other, folder).labels)
    assert len(taught) == 2


def test_labels_are_those_of_the_settings_wherever_the_labeller_is_kept(cache, semantic):
    task, _ = load_task(TrainedNetwork(semantic), cache)
    torch.set_num_threads(1)
    np.testing.assert_array_equal(task.train.y, noisy_task(semantic).labels)


@pytest.mark.parametrize("field", LABELLER)
def test_a_labeller_of_other_settings_has_a_folder_of_its_own(cache, semantic, monkeypatch, field):
    folders = []
    monkeypatch.setattr(sources, "noisy_task", lambda s, folder: folders.append(folder))
    other = {
        "data": "digits32",
        "recipe": "table5",
        "rate": 0.2,
        "labeller": "vgg13",
        "labeller_options": {"hidden": (4,)},
        "labeller_samples": 50,
        "validation": 99,
        "limit": 300,
        "seed": 5,
    }[field]
    for settings in (semantic, dataclasses.replace(semantic, **{field: other})):
        sources.taught_labeller(settings, cache)
    assert len(set(folders)) == 2


def test_who_needs_the_same_labeller_waits_for_it(cache, semantic, monkeypatch):
    monkeypatch.setattr(cache_module, "PAUSE", 0.01)
    at_work, most, lock = [0], [0], threading.Lock()

    def slowly(settings, folder):
        with lock:
            at_work[0] += 1
            most[0] = max(most[0], at_work[0])
        threading.Event().wait(0.1)
        with lock:
            at_work[0] -= 1

    monkeypatch.setattr(sources, "noisy_task", slowly)
    threads = [
        threading.Thread(target=sources.taught_labeller, args=(semantic, cache)) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most[0] == 1


def test_other_noise_needs_no_labeller(cache):
    assert sources.taught_labeller(SETTINGS, cache) is None
    assert not (cache.folder / "labellers").exists()
