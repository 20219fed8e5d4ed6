"""The paper's figures: collected as JSON from results and the cache, then drawn from that alone."""
