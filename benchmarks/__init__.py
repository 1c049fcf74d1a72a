"""Time and memory of scca, compared with the alternatives: `python -m benchmarks`."""
