"""Databases of earlier versions, 2.0 to 5.1: recognised by shape, converted in place."""
