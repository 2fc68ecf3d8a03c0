"""What receivers, watches and phones write, a format a file."""
