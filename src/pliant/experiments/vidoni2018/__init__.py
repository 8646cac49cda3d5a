"""The L-shaped manipulator of [vidoni2018]: finite elements and component modes of an equivalent rigid link."""
