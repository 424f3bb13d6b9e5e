"""Where settings of editors have moved the tasks of an agent."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cloxy_hookspecs import LogReader, Parts
from cloxy_hookspecs.logs.folders import absolute
from cloxy_plugins.cline.editor_settings import settings_of, value_of
from cloxy_plugins.cline.places import TASKS, task_folders, user_folders
from cloxy_plugins.cline.products import PRODUCTS, Product, owner_of


class Moved:
    """The folders with tasks that settings name, as of the last look."""

    def __init__(
        self,
        reader: LogReader,
        product: Product,
        environment: Mapping[str, str],
        home: Path,
        platform: str,
    ) -> None:
        """Know of none yet.

        Args:
            reader: opens files.
            product: whose tasks.
            environment: as for `task_folders`.
            home: the user's home folder.
            platform: as `sys.platform` has it.
        """
        self._reader = reader
        self._product = product
        self._where = (environment, home, platform)
        self._owners: Mapping[Path, Product] = {}

    def look(self) -> None:
        """Look again into the settings of all editors. Blocks.

        A folder in which another agent keeps its tasks in any case stays that agent's, and one
        that two settings name is that of the first agent: which of them a task in it is of cannot
        be told.
        """
        if not self._product.settings:
            return
        usual = {folder for each in PRODUCTS for folder in task_folders(each, *self._where)}
        settings = [text for user in self._users() for text in settings_of(self._reader, user)]
        owners: dict[Path, Product] = {}
        for product in PRODUCTS:
            for folder in absolute(_named(settings, product)):
                if folder not in usual:
                    owners.setdefault(folder, product)
        self._owners = owners

    def __call__(self) -> Sequence[Path]:
        """Folders with a folder for each task, existing or not."""
        return [folder for folder, owner in self._owners.items() if owner is self._product]

    def owner_of(self, parts: Parts) -> Product:
        """Whose task a folder holds, given its path, part by part."""
        return self._owners.get(Path(*parts[:-1])) or owner_of(parts)

    def _users(self) -> Sequence[Path]:
        return absolute(user_folders(*self._where))


def _named(settings: Sequence[str], product: Product) -> Iterator[Path]:
    for text in settings:
        for name in product.settings:
            value = value_of(text, name)
            # The agents take a relative one, too: from wherever the editor was started.
            if value and "\0" not in value and os.path.isabs(value):  # noqa: PTH117
                yield Path(value) / TASKS
