"""The mathematics of motion, compiled: 3-vectors, rotations, rigid motions, small matrices."""
