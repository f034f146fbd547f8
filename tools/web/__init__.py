"""The web: search, fetch within the law of robots.txt, extract; no private address is ever reached."""
