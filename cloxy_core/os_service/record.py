"""What was installed for a data directory, written down in it."""

import json
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from cloxy_core.identity import write_private
from cloxy_core.os_service.boundary import ServiceError

FILE_NAME: Final = "service.json"


@dataclass(frozen=True, slots=True)
class Record:
    """One installed service.

    Attributes:
        platform: kind of service manager: launchd, systemd or schtasks.
        name: its name there.
        definition: path of the definition file.
        digest: SHA-256 of the definition as it was written.
        environment: variables that were asked for.
    """

    platform: str
    name: str
    definition: str
    digest: str
    environment: dict[str, str]

    def is_untouched(self) -> bool:
        """Whether the definition is still as it was written."""
        try:
            return digest_of(Path(self.definition).read_bytes()) == self.digest
        except OSError:
            return False


def digest_of(definition: bytes) -> str:
    """SHA-256 of a definition, in hexadecimal digits."""
    return sha256(definition).hexdigest()


def read_record(data_dir: Path) -> Record | None:
    """What is installed for a data directory; None when nothing is.

    Raises:
        ServiceError: the file is there and cannot be read.
    """
    path = data_dir / FILE_NAME
    try:
        found = json.loads(path.read_bytes())
        return Record(
            platform=str(found["platform"]),
            name=str(found["name"]),
            definition=str(found["definition"]),
            digest=str(found["digest"]),
            environment={str(n): str(v) for n, v in dict(found["environment"]).items()},
        )
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ServiceError(
            f"{path} cannot be read: {error}",
            hint="remove it, and run `cloxy install-service` again",
        ) from error


def write_record(data_dir: Path, record: Record) -> None:
    """Write down what is installed, mode 0600.

    Raises:
        OSError: it cannot be written.
    """
    write_private(data_dir / FILE_NAME, json.dumps(asdict(record), indent=2) + "\n")


def remove_record(data_dir: Path) -> None:
    """Forget that anything is installed."""
    (data_dir / FILE_NAME).unlink(missing_ok=True)
