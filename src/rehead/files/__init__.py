"""Everything that touches a disk: models, features, tables."""
