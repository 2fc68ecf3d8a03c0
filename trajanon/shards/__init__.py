"""Files and folders anonymised: a file at once, folders of parts in shards, also on clusters."""
