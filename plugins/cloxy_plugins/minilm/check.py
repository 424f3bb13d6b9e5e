"""Whether the files of the model are those that came with Cloxy."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from cloxy_hookspecs import Finding, HostContext, ModelMissingError
from cloxy_plugins.minilm.files import DATA, check_files, read_manifest
from cloxy_plugins.minilm.folder import read_folder
from cloxy_plugins.minilm.settings import MODEL_DIR


class ModelFilesCheck:
    """Reads every file of the model, and loads nothing.

    Damage is a warning: nothing is lost by it, and recall goes on by words.
    """

    def __init__(
        self,
        look: Callable[[], int],
        blocking: Callable[[Callable[[], int]], Awaitable[int]],
    ) -> None:
        """Look at nothing yet.

        Args:
            look: compares the files, and returns how many there are.
            blocking: runs it on a thread.
        """
        self._look = look
        self._blocking = blocking

    async def run(self) -> Sequence[Finding]:
        """One finding."""
        try:
            count = await self._blocking(self._look)
        except ModelMissingError as error:
            words = f"{error.message}; {error.hint}" if error.hint else error.message
            return [Finding("warning", f"recall goes by words alone: {words}")]
        return [Finding("ok", f"the {count} files of the embedding model are whole")]


def create_check(context: HostContext) -> ModelFilesCheck:
    """The check of the model that the settings name."""
    folder = context.settings[MODEL_DIR]
    return ModelFilesCheck(
        _built_in if folder is None else lambda: _other(folder),
        context.blocking,
    )


def look_at(data: Path) -> int:
    """Compare the files of a built-in model with its manifest; how many there are.

    Raises:
        ModelMissingError: one is missing, half-written or another file.
    """
    manifest = read_manifest(data)
    check_files(data, manifest)
    return len(manifest.files)


def _built_in() -> int:
    return look_at(DATA)


def _other(folder: Path) -> int:
    read_folder(folder, "")
    return 2
