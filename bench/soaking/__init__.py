"""The soak of `bench/service.py`: a server that is made to fail, and the load on it."""
