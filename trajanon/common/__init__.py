"""What every room uses: arrays, errors, options, progress, files written whole, workers."""
