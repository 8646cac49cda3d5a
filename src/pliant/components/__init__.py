"""Connect: sources, motions, force elements, motors, dampers and sampled controllers joined to an arm."""
