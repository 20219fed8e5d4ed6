"""A Hugging Face model, small and randomly initialised from its configuration."""

import numpy as np
import pytest
import torch

from rehead.torch import RobustHead, extract_features

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
    # The embeddings, which are no hidden state yet, are the witness.
    assert list(features.layers) == [f"hidden_states.{i}" for i in range(4)]
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
    module = head.to_module().eval()
    inputs = {k: v for k, v in batches[0].items() if k in ("input_ids", "attention_mask")}
    with torch.no_grad():
        log_p = module(**inputs)
    np.testing.assert_allclose(log_p.exp(), head.predict_proba(batches)[:12], atol=1e-5)
    assert all(name.startswith("doc") for name in head.find_mislabelled())


def test_a_hidden_state_that_is_not_there(model, batches):
    with pytest.raises(ValueError, match=r"the last one is hidden_states\.3"):
        extract_features(model, batches, ["hidden_states.9"])
