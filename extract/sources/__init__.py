"""What traces come from, which `formats_recognised` lists; the server of OpenStreetMap is one."""
