"""Vectors and rotations that stand for none, and the axes of a frame."""

ORIGIN = (0.0, 0.0, 0.0)
IDENTITY = (1.0, 0.0, 0.0, 0.0)  # the quaternion of no rotation
ZERO6 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
ALONG_X, ALONG_Y, ALONG_Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
