"""Data sets by name, split into train, validation and test, with ids and class names."""

from rehead.data.digits import scribbles
from rehead.data.download import DownloadError
from rehead.data.files import DataFileError, DataMissingError
from rehead.data.loading import DATASETS, find_dataset, load
from rehead.data.pictures import read_pictures
from rehead.data.record import DataSet
from rehead.data.splits import Split, Splits
from rehead.data.tinyimagenet32 import outside_images

__all__ = [
    "DATASETS",
    "DataFileError",
    "DataMissingError",
    "DataSet",
    "DownloadError",
    "Split",
    "Splits",
    "find_dataset",
    "load",
    "outside_images",
    "read_pictures",
    "scribbles",
]
