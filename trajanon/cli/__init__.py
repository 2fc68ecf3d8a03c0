"""The command line, a command a file; heavy imports wait inside the commands."""
