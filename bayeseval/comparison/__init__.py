"""Several models of one run: which describes the data, what they say together, and how much the prior decides."""
