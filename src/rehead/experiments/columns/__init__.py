"""Ways to predict, by name: the columns of every table."""
