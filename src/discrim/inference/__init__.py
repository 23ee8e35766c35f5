"""What a fit says about the world: standard errors, tests and the summary that prints them."""
