"""Systems that people talk to while a corpus is collected: our own bot, language models, endpoints, functions."""
