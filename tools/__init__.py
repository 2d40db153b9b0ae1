"""What keeps this house in order: pins, generated pages, the drawing, and the rules that a machine can check."""
