"""Arrow's library, which the extra `parquet` brings: importing this module says so where it is missing."""

from lapsus.errors import UsageError
from lapsus.notices import Notice

try:
    from arro3.core import Array, DataType, Field, RecordBatch, RecordBatchReader, Schema, Table
    from arro3.io import read_ipc, read_ipc_stream, read_parquet, write_parquet
except ModuleNotFoundError as error:
    raise UsageError(
        "needs",
        hint="pip install 'lapsus-eval[parquet]'",
        purpose=Notice("parquet-and-arrow"),
        package="arro3",
    ) from error

__all__ = [
    "Array",
    "DataType",
    "Field",
    "RecordBatch",
    "RecordBatchReader",
    "Schema",
    "Table",
    "read_ipc",
    "read_ipc_stream",
    "read_parquet",
    "write_parquet",
]
