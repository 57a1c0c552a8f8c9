"""Long counts of faults, with figures that add up over resumed runs; see docs/reliability.md."""
