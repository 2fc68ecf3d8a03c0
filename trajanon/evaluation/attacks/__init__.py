"""What a released file gives away: one attack a file."""
