"""Physics that several formulations share, and exact answers to test against."""
