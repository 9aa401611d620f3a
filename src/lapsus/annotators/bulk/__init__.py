"""One driver of judging: documents or units through an annotator, here or on a cluster, with answers kept."""

from lapsus.annotators.bulk.run import Engine, Here, Journal, Kept, KeptChunks, Run
from lapsus.annotators.bulk.work import JudgeDocuments, Work

__all__ = ["Engine", "Here", "Journal", "JudgeDocuments", "Kept", "KeptChunks", "Run", "Work"]
