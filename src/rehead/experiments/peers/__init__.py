"""Methods of others that work on features and labels, each from its formulas, a file each."""
