"""A Hugging Face model, small and randomly initialised from its configuration."""

from copy import deepcopy

import numpy as np
import pytest
import torch

from rehead.torch import RobustHead, extract_features

# Heads here are fitted without held-out samples where their weights do not matter.
pytestmark = pytest.mark.filterwarnings("ignore:No held-out samples were given, so all members")
transformers = pytest.importorskip("transformers", reason='needs pip install "rehead[hf]"')


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=50,
        hidden_size=16,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=24,
        num_labels=3,
    )
    return transformers.BertForSequenceClassification(config).eval()


@pytest.fixture(scope="module")
def batches():
    """Dicts as a data collator gives them: padded, with attention masks, labels and ids."""
    generator = torch.Generator().manual_seed(0)
    out = []
    for k in range(10):
        lengths = torch.randint(3, 9, (12, 1), generator=generator)
        mask = (torch.arange(8)[None] < lengths).long()
        tokens = torch.randint(1, 50, (12, 8), generator=generator) * mask
        ids = [f"doc{k}-{i}" for i in range(12)]
        labels = torch.arange(12) % 3
        out.append({"input_ids": tokens, "attention_mask": mask, "labels": labels, "id": ids})
    return out


def test_auto_takes_hidden_states_averaged_over_the_mask(model, batches):
    features = extract_features(model, batches)
    # The words, and the embeddings, which are no hidden state yet, are the witness.
    assert list(features.layers) == ["input", *(f"hidden_states.{i}" for i in range(4))]
    first = {k: v for k, v in batches[0].items() if k in ("input_ids", "attention_mask")}
    with torch.no_grad():
        states = model(**first, output_hidden_states=True).hidden_states[2]
    mask = first["attention_mask"][:, :, None]
    expected = (states * mask).sum(1) / mask.sum(1)
    np.testing.assert_allclose(features.layers["hidden_states.2"][:12], expected, atol=1e-5)
    assert features.ids[13] == "doc1-1"
    assert features.outputs.shape == (120, 3)


def test_the_first_token(model, batches):
    layer = "hidden_states.3"
    features = extract_features(model, batches[:1], [layer], pool="first")
    inputs = {k: v for k, v in batches[0].items() if k in ("input_ids", "attention_mask")}
    with torch.no_grad():
        states = model(**inputs, output_hidden_states=True).hidden_states[3]
    np.testing.assert_allclose(features.layers[layer], states[:, 0], atol=1e-5)


def test_head_and_module(model, batches):
    head = RobustHead(model, estimator="mcd", shrinkage="auto", random_state=0).fit(batches)
    assert set(head.compare(batches).rows) == {"softmax", *head.layers_, "robust"}
    module = head.to_module()
    inputs = {k: v for k, v in batches[0].items() if k in ("input_ids", "attention_mask")}
    expected = head.predict_proba(batches)[:12]
    with torch.no_grad():
        for log_p in (module(**inputs), module(*inputs.values())):  # by name, and in their places
            np.testing.assert_allclose(log_p.exp(), expected, atol=1e-5)
    assert all(name.startswith("doc") for name in head.find_mislabelled())


def test_a_hidden_state_that_is_not_there(model, batches):
    with pytest.raises(ValueError, match=r"the last one is hidden_states\.3"):
        extract_features(model, batches, ["hidden_states.9"])


def test_export_with_any_number_of_samples(model, batches):
    head = RobustHead(model, estimator="mcd", shrinkage="auto", random_state=0).fit(batches)
    inputs = [batches[0][name] for name in ("input_ids", "attention_mask")]
    batch = torch.export.Dim("batch")
    program = torch.export.export(
        head.to_module(),
        tuple(inputs),
        dynamic_shapes={"input_ids": {0: batch}, "attention_mask": {0: batch}},
    )
    with torch.no_grad():
        found = program.module()(*(x[:5] for x in inputs)).exp()
    np.testing.assert_allclose(found, head.predict_proba(batches)[:5], atol=1e-5)


def test_masks_in_their_place_are_masks(model, batches):
    layer = "hidden_states.2"
    named = extract_features(model, batches, [layer]).layers[layer]
    placed = [((b["input_ids"], b["attention_mask"]), b["labels"]) for b in batches]
    np.testing.assert_array_equal(extract_features(model, placed, [layer]).layers[layer], named)


def test_rows_of_a_data_set_with_texts_and_names_of_classes(model, batches):
    """As `datasets` gives them after a tokeniser: lists, and columns that no network takes."""

    class Rows(list):
        column_names = ("input_ids", "attention_mask", "label", "text")

    names = ["neutral", "good", "bad"]
    rows = Rows(
        {
            "input_ids": tokens.tolist(),
            "attention_mask": mask.tolist(),
            "label": names[int(label)],
            "text": "as it was",
        }
        for b in batches
        for tokens, mask, label in zip(
            b["input_ids"], b["attention_mask"], b["labels"], strict=True
        )
    )
    features = extract_features(model, rows)
    expected = extract_features(model, batches)
    assert features.labels.tolist() == [names[i] for i in expected.labels]
    for name in expected.layers:
        np.testing.assert_allclose(features.layers[name], expected.layers[name], atol=1e-5)


def test_a_deep_copy_shares_nothing(model, batches):
    head = RobustHead(model, estimator="mcd", shrinkage="auto", random_state=0).fit(batches)
    inputs = {k: v for k, v in batches[0].items() if k in ("input_ids", "attention_mask")}
    module = head.to_module()
    with torch.no_grad():
        before = module(**inputs)
        copied = deepcopy(module)
        torch.testing.assert_close(copied(**inputs), before)
        for parameter in copied.parameters():
            parameter.zero_()
        assert not torch.allclose(copied(**inputs), before)
        torch.testing.assert_close(module(**inputs), before)
