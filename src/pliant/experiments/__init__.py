"""Papers, reproduced: one package for each, and the exact answers they are measured against."""
