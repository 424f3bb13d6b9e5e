"""The conformance kit for plugin authors: fixtures, fakes, and a class of tests for each seat."""
