"""How fast scca is and how much memory it takes, beside what users would run instead: `python -m benchmarks`."""
