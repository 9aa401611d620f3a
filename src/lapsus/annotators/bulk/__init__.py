"""One driver of judging: documents or units through an annotator, here or on a cluster, with answers kept."""

from lapsus.annotators.bulk.kept import Journal, KeptChunks
from lapsus.annotators.bulk.run import Engine, Here, JudgeDocuments, Kept, Run, Work

__all__ = ["Engine", "Here", "Journal", "JudgeDocuments", "Kept", "KeptChunks", "Run", "Work"]
