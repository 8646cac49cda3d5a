"""Pictures of trajectories."""
