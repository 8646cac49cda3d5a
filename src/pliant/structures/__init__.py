"""Models and steppers that formulations share, one folder for each kind of equations."""
