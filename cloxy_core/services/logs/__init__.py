"""Reading what agents leave on disk, safely: files below trees, and databases of others."""
