"""What any compiled arm offers: states, ports, energy account, observation."""
