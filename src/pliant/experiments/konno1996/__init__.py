"""Vibrations and step responses of the arm ADAM of [konno1996], with stations and fields."""
