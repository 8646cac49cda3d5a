"""Papers, reproduced: one package for each."""
