"""The parts of the fault drill, `benchmarks/faults.py`."""
