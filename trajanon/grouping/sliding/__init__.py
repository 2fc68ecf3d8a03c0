"""Windows slide on their tracks towards their groups."""
