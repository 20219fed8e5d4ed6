"""Several layers of a network: the consensus of the default, and the ensemble of the paper."""
