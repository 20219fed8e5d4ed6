"""``make fuzz``: all areas for some minutes; the table, and benchmarks/results/fuzz.json."""
