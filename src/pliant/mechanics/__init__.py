"""Physics that several formulations share."""
