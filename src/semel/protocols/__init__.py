"""The whole safety argument: generators that decide, and ask for everything else."""
