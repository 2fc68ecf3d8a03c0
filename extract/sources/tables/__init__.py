"""Tables that hold a point a row, and what is written like one."""
