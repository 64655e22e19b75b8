"""The project file: one SQLite file that holds a study."""

from __future__ import annotations

from banana100_core.project.project import ImageStorage, Project

__all__ = ["ImageStorage", "Project"]
