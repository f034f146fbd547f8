"""RINSE and the methods it is compared with, behind one protocol, one method a file."""
