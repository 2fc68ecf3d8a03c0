"""What traces come from: a reader a file, and the server of OpenStreetMap; see `formats_recognised`."""
