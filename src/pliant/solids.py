"""Links of any shape: files of matrices and meshes, frames on their nodes, and a bracket made without a mesher."""

from pliant.robot import Interface as Interface
from pliant.robot import MatrixFiles as MatrixFiles
from pliant.robot import MeshFile as MeshFile
from pliant.robot import write_bracket as write_bracket
