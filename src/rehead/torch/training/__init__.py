"""Training on noisy labels: one loop, eleven methods, recipes for each table of the paper."""

from rehead.torch.training.classifier import NetworkClassifier
from rehead.torch.training.loop import train
from rehead.torch.training.mentor import Pace
from rehead.torch.training.method import Method
from rehead.torch.training.methods import METHODS
from rehead.torch.training.published import published_settings
from rehead.torch.training.recipes import RECIPES, Recipe, find_recipe
from rehead.torch.training.run import Run
from rehead.torch.training.state import Trained
from rehead.torch.training.trusted import draw_trusted

__all__ = [
    "METHODS",
    "RECIPES",
    "Method",
    "NetworkClassifier",
    "Pace",
    "Recipe",
    "Run",
    "Trained",
    "draw_trusted",
    "find_recipe",
    "published_settings",
    "train",
]
