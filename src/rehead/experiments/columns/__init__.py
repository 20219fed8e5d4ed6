"""The columns of the accuracy grid: ways to predict from the features of a task."""
