"""The OSM API: pages of GPS points, asked for politely and put together again."""
