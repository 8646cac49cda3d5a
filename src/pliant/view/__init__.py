"""VIEW: pictures of trajectories."""
