"""Tables beyond memory: parts on disk -> shards -> a release in parts."""
