"""The contract: what any model offers, and the values that pass through it."""
