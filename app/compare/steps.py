"""What is said of a step, and which steps are likely to be looked at next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.blinding import NO_STEP
from banana100_core.project.records import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from banana100_core.project.records import Image, Step


def neighbours(steps: Sequence[Step], current: int, direction: int, count: int = 8) -> list[Step]:
    """The steps likely to be looked at next, likeliest first; more in the direction of travel."""
    places = {step.number: place for place, step in enumerate(steps)}
    here = places.get(current)
    if here is None:
        return []
    offsets = [1, 2, -1, 3, 4, -2, 5, 6, -3, 7, 8, -4]
    wanted = [here + (offset if direction >= 0 else -offset) for offset in offsets]
    return [steps[place] for place in wanted if 0 <= place < len(steps)][:count]


def aspect_differs(image: Image, initial: Image) -> bool:
    """Whether a picture has another aspect than step 0, beyond what rounding a side to whole pixels makes."""
    width = image.height * initial.width / initial.height
    height = image.width * initial.height / initial.width
    return abs(image.width - width) > 1 and abs(image.height - height) > 1


def size_text(image: Image) -> str:
    """Width and height, as `2816 × 1504`."""
    return f"{image.width} × {image.height}"


def media_text(media_type: str) -> str:
    """A media type in short: `PNG`."""
    return media_type.rpartition("/")[2].upper()


def bytes_text(count: int) -> str:
    """A size of a file, as `1.2 MB`."""
    if count < 1000:
        return f"{count} bytes"
    return f"{count / 1e3:.0f} kB" if count < 1e6 else f"{count / 1e6:.1f} MB"


def title(step: Step, *, numbered: bool = True) -> str:
    """What a step is called; without its number while that is hidden."""
    if not numbered:
        return NO_STEP
    return "Step 0 · initial image" if step.outcome is Outcome.INITIAL else f"Step {step.number}"


def mislabelled(step: Step) -> bool:
    """Whether the type that the editor declared isn't what the bytes are."""
    declared, image = step.declared_media_type, step.image
    if image is None or not declared:
        return False
    return declared.lower().replace("image/jpg", "image/jpeg") != image.media_type


def failure_text(step: Step, *, numbered: bool = True) -> str:
    """What stands in place of the picture of a failed step."""
    which = f"Step {step.number}" if numbered else "This step"
    return f"{which} failed\n\n{step.reason or 'No reason was given.'}"


def resize_note(reference: Step, current: Step, *, numbered: bool = True) -> str:
    """Which picture is resized where two are laid over each other; empty when sizes are equal."""
    if reference.image is None or current.image is None:
        return ""
    one, other = reference.image, current.image
    if (one.width, one.height) == (other.width, other.height):
        return ""
    how = "stretched" if aspect_differs(one, other) else "resized"
    which = f"Step {reference.number}" if numbered else "The reference"
    return f"{which} is {how} from {size_text(one)} to {size_text(other)}"
