"""`semel prove`: kill every actor at every boundary, in every order, and see it converge; or tell the shortest story."""
