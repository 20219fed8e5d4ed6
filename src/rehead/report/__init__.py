"""Pages that people look at, and tables in the terminal."""
