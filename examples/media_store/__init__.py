"""The digital media store: an application built on Semel's public names."""
