"""The studio: a page of this machine for those who do not type. A face of the commands."""
