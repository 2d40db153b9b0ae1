"""What the user declares, read and checked without a database."""
