"""The mutants: deliberately broken protocols, one named change each. Each must be noticed."""

from __future__ import annotations

from semel.testing.prove.mutants import of_claims, of_effects, of_keepers, of_operations
from semel.testing.prove.mutants.mutant import Mutant

MUTANTS: tuple[Mutant, ...] = (
    *of_claims.MUTANTS,
    *of_keepers.MUTANTS,
    *of_operations.MUTANTS,
    *of_effects.MUTANTS,
)
