"""What a released file gives away."""
