"""Every SQL statement, and all that is known about databases."""
