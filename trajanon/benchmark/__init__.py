"""The papers' tables, measured again beside what was published."""
