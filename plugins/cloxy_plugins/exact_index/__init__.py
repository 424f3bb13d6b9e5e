"""The dense channel: every vector is looked at, none is missed."""
