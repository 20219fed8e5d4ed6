"""Texts and wide vectors as a few numbers a sample."""

import copy
import pickle

import numpy as np
import pytest
import torch
from torch import nn

from rehead.torch import RobustHead, extract_features
from rehead.torch.sketches import MOST_WORDS, N_CELLS, N_COPIES, WordSketch, sketch_vectors


def counts_of(ids, n_words):
    """How often each text has each word, by brute force."""
    return np.stack([np.bincount(row, minlength=n_words) for row in ids.numpy()])


@pytest.fixture
def ids():
    return torch.randint(1, 500, (40, 60), generator=torch.Generator().manual_seed(0))


def test_a_sketch_is_the_signed_sum_of_log_counts(ids):
    sketch = WordSketch.of(nn.Embedding(500, 4))
    into = np.zeros((500, N_CELLS))
    for cells, signs in zip(sketch.cells.numpy(), sketch.signs.numpy(), strict=True):
        np.add.at(into, (np.arange(500), cells), signs)
    expected = np.log1p(counts_of(ids, 500)) @ into
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(sketch(ids), expected, atol=1e-6)


def test_inner_products_hardly_change(ids):
    sketch = WordSketch.of(nn.Embedding(500, 4))(ids).numpy()
    logs = np.log1p(counts_of(ids, 500))
    logs /= np.linalg.norm(logs, axis=1, keepdims=True)
    error = sketch @ sketch.T - logs @ logs.T
    assert np.sqrt((error**2).mean()) < 1.5 / np.sqrt(N_CELLS)


def test_order_and_padding_do_not_count(ids):
    sketch = WordSketch.of(nn.Embedding(500, 4, padding_idx=0))
    longer = torch.cat([ids.flip(1), torch.zeros(40, 30, dtype=torch.long)], dim=1)
    torch.testing.assert_close(sketch(longer), sketch(ids))
    masked = WordSketch.of(nn.Embedding(500, 4))
    torch.testing.assert_close(masked(longer, (longer > 0).long()), masked(ids))
    assert not torch.allclose(masked(longer), masked(ids))


def test_an_empty_text_is_all_zero():
    sketch = WordSketch.of(nn.Embedding(500, 4, padding_idx=0))
    assert not sketch(torch.zeros(2, 5, dtype=torch.long)).any()


def test_large_vocabularies_are_folded():
    sketch = WordSketch.of(nn.Embedding(3 * MOST_WORDS, 1))
    assert sketch.cells.shape == (N_COPIES, MOST_WORDS)
    assert sketch(torch.tensor([[2 * MOST_WORDS + 7, 5]])).isfinite().all()


def test_the_table_never_changes():
    # Saved heads do not hold it.
    sketch = WordSketch.of(nn.Embedding(100, 1))
    assert sketch.cells[0, :6].tolist() == [172, 47, 117, 192, 323, 251]
    assert sketch.signs[0, :6].tolist() == [-1.0, 1.0, -1.0, -1.0, 1.0, 1.0]


def test_networks_without_words_have_no_sketch():
    assert WordSketch.of(nn.Linear(3, 2)) is None


def test_wide_vectors_keep_their_inner_products():
    x = torch.randn(30, 5000, generator=torch.Generator().manual_seed(0)) / 5000**0.5
    error = sketch_vectors(x) @ sketch_vectors(x).T - x @ x.T
    assert error.square().mean().sqrt() < 1.5 / N_CELLS**0.5
    net = nn.Sequential(nn.Linear(5000, 4), nn.ReLU(), nn.Linear(4, 2))
    found = extract_features(net, x).layers["input"]
    np.testing.assert_allclose(found, sketch_vectors(x), atol=1e-6)
    assert extract_features(net, x, pool="flatten").layers["input"].shape == (30, 5000)


class Texts(nn.Module):
    """The mean of word vectors, then two layers."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(300, 8, padding_idx=0)
        self.hidden, self.out = nn.Linear(8, 16), nn.Linear(16, 2)

    def forward(self, ids):
        return self.out(torch.relu(self.hidden(self.words(ids).mean(dim=1))))


@pytest.fixture(scope="module")
def texts():
    """Texts of two topics that share half of their words; 30 % of the labels are wrong."""
    rng = np.random.default_rng(0)
    truth = np.arange(700) % 2
    common = rng.random((700, 20)) < 0.5
    ids = np.where(common, rng.integers(1, 100, (700, 20)), rng.integers(100, 200, (700, 20)))
    ids = np.where(~common & (truth[:, None] == 1), ids + 100, ids)
    wrong = rng.random(700) < 0.3
    return torch.from_numpy(ids), truth, np.where(wrong, 1 - truth, truth), wrong


def test_words_judge_a_text_network_that_memorised_its_labels(texts):
    ids, truth, labels, wrong = texts
    torch.manual_seed(0)
    net = Texts()
    optimiser = torch.optim.Adam(net.parameters(), 1e-2)
    y = torch.from_numpy(labels[:500])
    for _ in range(300):
        optimiser.zero_grad()
        nn.functional.cross_entropy(net(ids[:500]), y).backward()
        optimiser.step()
    assert (net(ids[:500]).argmax(1) == y).float().mean() > 0.99
    held_out = (ids[500:600], torch.from_numpy(labels[500:600]))
    head = RobustHead(net, random_state=0).fit((ids[:500], y), held_out)
    assert head.layers_ == ["input", "hidden.input", "out.input"]
    assert "input" in head.ensemble_.consensus_.judges
    assert abs(head.report_.noise_rate - wrong[:500].mean()) < 0.05
    assert head.score((ids[600:], torch.from_numpy(truth[600:]))) > 0.95
    assert wrong[head.find_mislabelled()].mean() > 0.9


def test_heads_on_words_are_saved_copied_and_exported(texts, tmp_path):
    ids, _, labels, _ = texts
    torch.manual_seed(0)
    net = Texts().eval()
    train, held_out = slice(0, 500), slice(500, 600)
    y = torch.from_numpy(labels)
    head = RobustHead(net, random_state=0).fit((ids[train], y[train]), (ids[held_out], y[held_out]))
    expected = head.predict_proba(ids[600:])
    head.save(tmp_path / "head")
    loaded = RobustHead.load(tmp_path / "head", net)
    np.testing.assert_array_equal(loaded.predict_proba(ids[600:]), expected)
    module = head.to_module()
    twins = [module, copy.deepcopy(module), pickle.loads(pickle.dumps(module))]
    for twin in twins:
        np.testing.assert_allclose(twin(ids[600:]).exp().detach(), expected, atol=1e-5)
    batch = torch.export.Dim("batch")
    exported = torch.export.export(module, (ids[:4],), dynamic_shapes=({0: batch},))
    np.testing.assert_allclose(exported.module()(ids[600:]).exp().detach(), expected, atol=1e-5)
