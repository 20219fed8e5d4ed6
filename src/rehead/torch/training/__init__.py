"""Training on noisy labels: one loop, eleven methods, recipes for each table of the paper."""

from rehead.torch.training.classifier import NetworkClassifier
from rehead.torch.training.inputs import draw_trusted
from rehead.torch.training.loop import Trained, train
from rehead.torch.training.method import Method
from rehead.torch.training.methods import METHODS
from rehead.torch.training.recipes import RECIPES, Recipe, find_recipe

__all__ = [
    "METHODS",
    "RECIPES",
    "Method",
    "NetworkClassifier",
    "Recipe",
    "Trained",
    "draw_trusted",
    "find_recipe",
    "train",
]
