"""Weights of the large English reader of Lapsus, and no code: `lapsus.annotators.encoder.large_reader` reads them."""
