"""How good predictions are, and several ways to predict side by side."""
