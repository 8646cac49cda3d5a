"""What any compiled arm offers: states, ports, energy ledger, observation."""
