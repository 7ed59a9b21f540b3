"""The cases, by theme: one module each."""
