"""The mutants: deliberately broken protocols, one named change each. Each must be killed."""
