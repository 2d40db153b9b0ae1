"""Where Semel meets web frameworks: outcomes become answers over HTTP."""
