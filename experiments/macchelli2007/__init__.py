"""The single flexible link of [macchelli2007] section IV-B."""
