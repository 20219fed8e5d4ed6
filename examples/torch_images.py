"""A convolutional network that has memorised wrong labels gets a new head.

python examples/torch_images.py            # about a minute
python examples/torch_images.py --short    # a few seconds
"""

import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from rehead import data, noise
from rehead.torch import RobustHead

parser = argparse.ArgumentParser()
parser.add_argument("--short", action="store_true")
epochs = 25 if parser.parse_args().short else 150

# Digits as 1 x 8 x 8 images, 40 % of the labels flipped to the next digit.
digits = data.load("digits")
images = {
    name: torch.tensor(getattr(digits, name).X).reshape(-1, 1, 8, 8)
    for name in ("train", "validation", "test")
}
train_labels = torch.tensor(noise.flip(digits.train.y, 0.4, random_state=1).labels)
validation_labels = torch.tensor(noise.flip(digits.validation.y, 0.4, random_state=2).labels)

torch.manual_seed(0)
net = nn.Sequential(
    nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU()),
    nn.Sequential(nn.Conv2d(16, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2)),
    nn.Sequential(nn.Conv2d(24, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU()),
    nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)),
)
train = DataLoader(TensorDataset(images["train"], train_labels), batch_size=128, shuffle=True)
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(epochs):
    for x, y in train:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
net.eval()
with torch.no_grad():
    fitted = (net(images["train"]).argmax(1) == train_labels).float().mean()
print(f"the network fits {fitted:.0%} of its noisy labels")

# The three lines: one pass over the data, no training.
head = RobustHead(net, layers=["0", "1", "2"], random_state=0)
head.fit(train, validation=(images["validation"], validation_labels), baselines=["paper"])
print(head.explain())
print(head.compare((images["test"], torch.tensor(digits.test.y))))

suspects = head.find_mislabelled()  # places in the data set, worst first
wrong = train_labels.numpy() != digits.train.y
print(f"{len(suspects)} suspects; of the 100 worst {wrong[suspects[:100]].sum()} are really wrong")

# One module with the new head inside, for torch.export and ONNX.
robust_net = head.to_module()
program = torch.export.export(robust_net, (images["test"][:8],))
print("exported:", tuple(program.module()(images["test"][:8]).shape))
