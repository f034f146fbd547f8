"""RINSE: is the evidence sufficient?"""
