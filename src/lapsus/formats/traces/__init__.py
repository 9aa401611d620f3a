"""Traces of language-model applications: calls read as dialogues, judgments written back as feedback."""
