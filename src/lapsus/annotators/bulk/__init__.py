"""Judging in bulk: documents in chunks, here or on a cluster, in order, with finished chunks kept."""

from lapsus.annotators.bulk.engine import Engine, Here
from lapsus.annotators.bulk.kept_chunks import KeptChunks
from lapsus.annotators.bulk.pipeline import Bulk
from lapsus.annotators.bulk.work import JudgeDocuments, Work

__all__ = ["Bulk", "Engine", "Here", "JudgeDocuments", "KeptChunks", "Work"]
