"""The protocols: generators that decide, and hold the whole safety argument."""
