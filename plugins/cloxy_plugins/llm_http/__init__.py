"""Language models behind any address that speaks the OpenAI API."""
