"""The embedder as the settings want it."""

from functools import partial
from pathlib import Path

from cloxy_hookspecs import (
    EMBED_MODEL,
    EMBED_PASSAGE_PREFIX,
    EMBED_QUERY_PREFIX,
    HostContext,
    ModelMissingError,
    SettingError,
)
from cloxy_hookspecs.types.vectors import EmbeddingSpace
from cloxy_plugins.minilm.embedder import MiniLmEmbedder
from cloxy_plugins.minilm.files import DATA, check_files, read_manifest
from cloxy_plugins.minilm.folder import read_folder
from cloxy_plugins.minilm.model import SentenceModel, load_model
from cloxy_plugins.minilm.names import DIMENSIONS, MODEL, MODELS, REVISION
from cloxy_plugins.minilm.settings import MODEL_DIR, SPACE_ID


def create_embedder(context: HostContext) -> MiniLmEmbedder:
    """Make the embedder; no model is loaded.

    Raises:
        SettingError: `embed.model` names a model that is not this one.
        ModelMissingError: the folder of `embed.model_dir` holds no model.
    """
    settings = context.settings
    chosen, folder, name = settings[EMBED_MODEL], settings[MODEL_DIR], settings[SPACE_ID]
    if chosen and chosen.casefold() not in {known.casefold() for known in MODELS}:
        raise SettingError(
            f"embed.model is {chosen!r}, which the built-in embedder cannot run",
            hint=f"wants {MODEL}, or another embed.provider that knows the model",
        )
    if folder is None:
        revision, dimensions = built_in_facts(DATA)
        load = partial(load_built_in, DATA, revision, dimensions)
    else:
        other = read_folder(folder, name)
        revision, dimensions = other.revision, other.dimensions
        load = partial(load_model, folder, dimensions, other.tokens)
    space = EmbeddingSpace(
        model=MODEL,
        revision=name or revision,
        dim=dimensions,
        query_prefix=settings[EMBED_QUERY_PREFIX] or "",
        passage_prefix=settings[EMBED_PASSAGE_PREFIX] or "",
    )
    return MiniLmEmbedder(space, load)


def built_in_facts(data: Path) -> tuple[str, int]:
    """Revision and dimensions of the built-in model.

    A model that was deleted or damaged is an error when it is to be loaded, not here: until it is
    back, the vectors that it made keep their meaning, and the server runs without it.
    """
    try:
        manifest = read_manifest(data)
    except ModelMissingError:
        return REVISION, DIMENSIONS
    return manifest.revision, manifest.dimensions


def load_built_in(data: Path, revision: str, dimensions: int) -> SentenceModel:
    """Check every file of the built-in model, and load it.

    Args:
        data: its folder.
        revision: the weights that the vectors are said to come from.
        dimensions: length of a vector.

    Raises:
        ModelMissingError: a file is missing or is not what it should be.
        ModelError: the model cannot be run.
    """
    manifest = read_manifest(data)
    if (manifest.revision, manifest.dimensions) != (revision, dimensions):
        raise ModelMissingError(
            f"the model in {data} was replaced while Cloxy ran", hint="restart Cloxy"
        )
    check_files(data, manifest)
    return load_model(data, dimensions, manifest.tokens)
