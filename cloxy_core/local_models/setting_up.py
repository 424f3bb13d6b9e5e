"""From what a person asked for to a model that is set up: files got and checked, a choice made."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cloxy_core.local_models.catalogue import LOAD_CONTEXT, CatalogueEntry, ModelFormat
from cloxy_core.local_models.choosing_files import files_for, format_of
from cloxy_core.local_models.download import Downloader
from cloxy_core.local_models.downloaded import are_whole, listing_of
from cloxy_core.local_models.hardware import GB, Hardware
from cloxy_core.local_models.hub import Hub, HubFile, Listing
from cloxy_core.local_models.inspecting import LocalModel, inspect
from cloxy_core.local_models.meter import Progress, Tell
from cloxy_core.local_models.recommending import budget_gb, longest_context
from cloxy_core.local_models.storage import (
    FOLDER,
    disk_errors_told,
    model_folder,
    read_manifest,
)
from cloxy_core.local_models.targets import Target, check_runs_here
from cloxy_hookspecs.errors import InputError
from cloxy_hookspecs.types.llm import ModelChoice

_UNKNOWN_CACHE_KB: Final = 150.0
"""Of a model that does not say: what one of four to eight billion weights takes."""
_LEAST_CONTEXT: Final = 4_096


@dataclass(frozen=True, slots=True)
class Planned:
    """What is known of a repository before anything is downloaded.

    Attributes:
        listing: the repository.
        format: form of the model.
        files: the files to get.
        missing: bytes that are still to come.
    """

    listing: Listing
    format: ModelFormat
    files: tuple[HubFile, ...]
    missing: int

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)


@dataclass(frozen=True, slots=True)
class Ready:
    """A model that is on this disk, whole.

    Attributes:
        choice: what to write.
        model: what its files say.
        notes: what a person should know.
    """

    choice: ModelChoice
    model: LocalModel
    notes: tuple[str, ...] = ()


class Setup:
    """Gets a model onto this disk and makes a choice of it."""

    def __init__(self, data_dir: Path, hardware: Hardware) -> None:
        """Prepare.

        Args:
            data_dir: the data directory, which exists.
            hardware: the machine.
        """
        self._data_dir = data_dir
        self._hardware = hardware

    def here(self, target: Target, tell: Tell) -> Ready | None:
        """A repository's model that was downloaded before, checked; None when it is not whole.

        Nothing is asked of the hub.
        """
        wanted = target.wanted
        if wanted is None:
            return None
        folder = self._data_dir / FOLDER / wanted.folder
        manifest = read_manifest(folder)
        if manifest is None:
            return None
        listing = listing_of(manifest)
        try:
            files = files_for(listing, manifest.format, wanted.selector)
        except InputError:
            return None
        with disk_errors_told(folder):
            if not are_whole(folder, manifest, files, tell):
                return None
        check_runs_here(manifest.format, self._hardware)
        return self._ready(target, folder, manifest.format, files)

    def plan(self, target: Target, hub: Hub) -> Planned:
        """Ask the hub what has to be got.

        Raises:
            CloxyError: there is no such model, it may not be had, or it cannot run here.
        """
        assert target.wanted is not None
        listing = hub.listing(target.wanted.repo)
        kind = format_of(listing)
        if kind is None:
            raise InputError(
                f"{listing.repo} holds neither GGUF files nor an MLX model",
                hint=f"look at {hub.page(listing.repo)}; `cloxy list` shows models that do",
            )
        check_runs_here(kind, self._hardware)
        files = _files(target, listing, kind)
        downloader = Downloader(hub, listing, self._folder(target), _nobody)
        return Planned(listing, kind, files, downloader.missing_bytes(files))

    def get(self, target: Target, planned: Planned, hub: Hub, tell: Tell) -> Ready:
        """Download what was planned, check it, and make a choice of it.

        Raises:
            CloxyError: it cannot be had, or is damaged.
        """
        assert target.wanted is not None
        folder = model_folder(self._data_dir, target.wanted.folder)
        Downloader(hub, planned.listing, folder, tell).get(planned.files, planned.format)
        return self._ready(target, folder, planned.format, planned.files)

    def local(self, target: Target) -> Ready:
        """A model that lies elsewhere on this disk, and stays there.

        Raises:
            BadModelFileError: it is no model.
            InputError: it cannot run here.
        """
        assert target.path is not None
        model = inspect(target.path)
        check_runs_here(model.format, self._hardware)
        name = model.path.stem if model.format == "gguf" else model.path.name
        return self._chosen(name, str(model.path), model, target.entry)

    def _folder(self, target: Target) -> Path:
        assert target.wanted is not None
        return self._data_dir / FOLDER / target.wanted.folder

    def _ready(
        self, target: Target, folder: Path, kind: ModelFormat, files: Sequence[HubFile]
    ) -> Ready:
        assert target.wanted is not None
        model = inspect(folder if kind == "mlx" else folder / files[0].path)
        name = folder.name.partition("--")[2] if kind == "mlx" else model.path.stem
        if target.entry is not None:
            name = target.entry.name
        return self._chosen(name, target.wanted.repo, model, target.entry)

    def _chosen(
        self, name: str, source: str, model: LocalModel, entry: CatalogueEntry | None
    ) -> Ready:
        budget = budget_gb(self._hardware)
        fits = entry or _as_entry(model)
        context = longest_context(fits, budget) or min(LOAD_CONTEXT, fits.context_tokens)
        needs = fits.needs_gb(context)
        notes = [*model.notes, *([entry.note] if entry is not None and entry.note else [])]
        if needs > budget:
            notes.append(
                f"it takes about {needs:.1f} GB of memory, and {budget:.1f} GB are for a model "
                "here: it may be slow, or not load"
            )
        elif self._hardware.free is not None and needs * GB > self._hardware.free:
            notes.append(
                f"it takes about {needs:.1f} GB of memory, and {self._hardware.free / GB:.1f} GB "
                "are free at this moment"
            )
        choice = ModelChoice(
            name=name,
            format=model.format,
            source=source,
            path=str(model.path),
            load_gb=round(needs, 1),
            context_tokens=context,
        )
        return Ready(choice, model, tuple(notes))


def _files(target: Target, listing: Listing, kind: ModelFormat) -> tuple[HubFile, ...]:
    """The files of a target; where the catalogue's file is no longer there, the best of the others.

    Raises:
        InputError: the repository has none of them.
    """
    assert target.wanted is not None
    try:
        return files_for(listing, kind, target.wanted.selector)
    except InputError:
        if target.entry is None:
            raise
        return files_for(listing, kind, None)


def _as_entry(model: LocalModel) -> CatalogueEntry:
    """A model that is not in the catalogue, with what its files say and a cautious guess."""
    size = model.size / 1e9
    return CatalogueEntry(
        name="",
        family=model.architecture,
        tier="",
        format=model.format,
        id="",
        size_gb=size,
        load_gb=size,
        cache_kb_per_token=model.cache_kb_per_token or _UNKNOWN_CACHE_KB,
        active_share=1.0,
        context_tokens=model.context_tokens or _LEAST_CONTEXT,
        tools=False,
        licence="",
        looked_up="",
        confirmed=(),
        run_here=False,
    )


def _nobody(progress: Progress) -> None:
    """Tells nobody how far it is."""
