"""The errors a person can meet; each message names the thing, the reason and the way out."""

from __future__ import annotations


class BananaError(Exception):
    """Base of every error that is told to the user in one line instead of a traceback."""


class ProjectError(BananaError):
    """The project file can't be used as asked."""


class NotAProjectError(ProjectError):
    """The file is not a Banana100 project, or is damaged."""


class NewerProjectError(ProjectError):
    """The project was written by a newer version of the program."""


class OlderProjectError(ProjectError):
    """The project was written by an older version, and can't be brought up to date for reading only."""


class ProjectInUseError(ProjectError):
    """Another window or command has the project open for writing."""


class ProjectReadOnlyError(ProjectError):
    """The project file or its folder can't be written."""


class ProjectClosedError(ProjectError):
    """The project was closed while an operation was waiting for it."""


class ImageError(BananaError):
    """An image can't be read or decoded."""


class MetricError(BananaError):
    """A metric can't score, or can't score this image."""


class WeightsError(MetricError):
    """Weights of a metric are missing or are not the expected file."""


class ProviderError(BananaError):
    """An editor can't do the edit that was asked for."""


class ImportFilesError(BananaError):
    """Files to import can't be understood."""


class WorkerDiedError(BananaError):
    """A worker process ended while it was working."""
