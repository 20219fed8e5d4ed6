"""A Hugging Face text classifier, trained on noisy labels, gets a new head.

The model is small and randomly initialised from its configuration, so nothing is downloaded.

    python examples/hugging_face_text.py            # about a minute
    python examples/hugging_face_text.py --short    # a few seconds
"""

import argparse

import numpy as np
import torch
from sentences import sentences
from transformers import BertConfig, BertForSequenceClassification

from rehead import noise
from rehead.torch import RobustHead

parser = argparse.ArgumentParser()
parser.add_argument("--short", action="store_true")
epochs = 8 if parser.parse_args().short else 15

texts, topics = sentences(2000)
names, labels = np.unique(topics, return_inverse=True)
words = {w: i + 1 for i, w in enumerate(sorted({w for text in texts for w in text.split()}))}
length = max(len(text.split()) for text in texts)
ids = torch.zeros(len(texts), length, dtype=torch.long)
for row, text in enumerate(texts):
    ids[row, : len(text.split())] = torch.tensor([words[w] for w in text.split()])
mask = (ids > 0).long()
noisy = noise.uniform(labels, 0.4, random_state=0)


def batches(start: int, stop: int, y: np.ndarray) -> list[dict[str, object]]:
    """Dicts as a Hugging Face data collator makes them, with an id for each text."""
    cuts = range(start, stop, 100)
    return [
        {
            "input_ids": ids[a : a + 100],
            "attention_mask": mask[a : a + 100],
            "labels": torch.tensor(y[a : a + 100]),
            "id": [f"text-{i}" for i in range(a, min(a + 100, stop))],
        }
        for a in cuts
    ]


torch.manual_seed(0)
config = BertConfig(
    vocab_size=len(words) + 1,
    hidden_size=32,
    num_hidden_layers=3,
    num_attention_heads=4,
    intermediate_size=64,
    num_labels=len(names),
)
model = BertForSequenceClassification(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
train = batches(0, 1200, noisy.labels)
for _ in range(epochs):
    for batch in train:
        inputs = {k: v for k, v in batch.items() if k != "id"}
        optimizer.zero_grad()
        model(**inputs).loss.backward()
        optimizer.step()

head = RobustHead(model, random_state=0)
head.fit(train, validation=batches(1200, 1500, noisy.labels))
print("layers:", ", ".join(head.layers_))
print(head.explain())
print(head.compare(batches(1500, 2000, labels)))
suspects = head.find_mislabelled()
wrong = [noisy.changed[int(name.split("-")[1])] for name in suspects[:100]]
print(f"{len(suspects)} suspects, worst first: {', '.join(suspects[:3])} ...")
print(f"of the 100 worst labels {sum(wrong)} are really wrong")
