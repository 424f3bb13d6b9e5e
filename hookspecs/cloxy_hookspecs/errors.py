"""Every error that crosses a door.

    CloxyError
    ├─ ConfigError              SettingError, ExposureError, EmbeddingSpaceMismatchError
    ├─ PluginError              PluginLoadError, PluginContractError, DuplicateNameError,
    │                           MissingExtraError, ServiceMissingError
    ├─ InputError               ValidationError, FilterError
    ├─ NotFoundError
    ├─ ConflictError            StaleWriteError
    ├─ AuthError                ForbiddenError
    ├─ FetchError               BlockedURLError, UnsupportedMediaError, TooManyRedirectsError,
    │                           FetchTimeoutError, FetchBusyError
    ├─ ModelError               ModelMissingError, ModelBusyError, ModelTimeoutError,
    │                           RemoteModelError, UnsupportedModelError, ContextTooLongError
    ├─ ServerUnreachableError
    └─ StoreError               MigrationError, StoreBusyError, StoreFullError, IntegrityError,
                                DataDirectoryInUseError, ForeignDatabaseError

Third parties subclass a leaf and set `code = "<plugin>.<name>"`.
"""

from typing import ClassVar


class CloxyError(Exception):
    """The root: a message for people, a hint that says what to do, and how doors show it.

    Attributes:
        code: stable machine-readable name, sent in every error body.
        http_status: the status at the REST door.
        exit_code: the exit code at the command line.
        retryable: whether the same call may succeed later.
    """

    code: ClassVar[str] = "error"
    http_status: ClassVar[int] = 500
    exit_code: ClassVar[int] = 1
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class ConfigError(CloxyError):
    """The configuration cannot be used."""

    code = "config"
    exit_code = 2


class SettingError(ConfigError):
    """A setting has a value that it cannot have; the message names where it was set."""

    code = "setting"


class ExposureError(ConfigError):
    """The server would listen beyond this machine without a sufficient key."""

    code = "exposure"


class EmbeddingSpaceMismatchError(ConfigError):
    """The model, dimension or prefix that is set is not what the stored vectors were made with."""

    code = "embedding_space_mismatch"


class PluginError(CloxyError):
    """A plugin did something it must not; names the plugin."""

    code = "plugin"
    exit_code = 3


class PluginLoadError(PluginError):
    """A plugin could not be imported."""

    code = "plugin_load"


class PluginContractError(PluginError):
    """A plugin yielded something that its seat does not take."""

    code = "plugin_contract"


class DuplicateNameError(PluginError):
    """Two plugins, or two records of one seat, have the same name."""

    code = "duplicate_name"


class MissingExtraError(PluginError):
    """A chosen plugin needs a package that is not installed; the hint is the pip command."""

    code = "missing_extra"
    http_status = 503


class ServiceMissingError(PluginError):
    """A port was asked for that no enabled plugin provides."""

    code = "service_missing"


class InputError(CloxyError):
    """The caller's input cannot be used."""

    code = "input"
    http_status = 400
    exit_code = 4


class ValidationError(InputError):
    """A field is missing, has the wrong type or is out of range."""

    code = "validation"
    http_status = 422


class FilterError(InputError):
    """A filter (date, project, role, source) cannot be read."""

    code = "filter"


class NotFoundError(CloxyError):
    """There is no such thing."""

    code = "not_found"
    http_status = 404
    exit_code = 5


class ConflictError(CloxyError):
    """The thing is in a state that forbids this."""

    code = "conflict"
    http_status = 409
    exit_code = 6


class StaleWriteError(ConflictError):
    """A row changed between reading and writing it."""

    code = "stale_write"
    retryable = True


class AuthError(CloxyError):
    """The key is missing or wrong."""

    code = "unauthorized"
    http_status = 401
    exit_code = 7


class ForbiddenError(AuthError):
    """The caller may not do this."""

    code = "forbidden"
    http_status = 403


class FetchError(CloxyError):
    """A page could not be fetched.

    Attributes:
        url: address of the page, as it was asked for; None where that is not known.
    """

    url: str | None = None

    code = "fetch"
    http_status = 502
    exit_code = 8


class BlockedURLError(FetchError):
    """An address may not be read; the message is the same whatever is there."""

    code = "blocked_url"
    http_status = 400


class UnsupportedMediaError(FetchError):
    """What was fetched is no text."""

    code = "unsupported_media"
    http_status = 415


class TooManyRedirectsError(FetchError):
    """A page leads on and on."""

    code = "too_many_redirects"


class FetchTimeoutError(FetchError):
    """A page took longer than it may."""

    code = "fetch_timeout"
    http_status = 504


class FetchBusyError(FetchError):
    """Too many pages are being read at this moment."""

    code = "fetch_busy"
    http_status = 503
    retryable = True


class ModelError(CloxyError):
    """A model cannot answer."""

    code = "model"
    http_status = 503
    exit_code = 9


class ModelMissingError(ModelError):
    """No model is installed for what was asked."""

    code = "model_missing"


class ModelBusyError(ModelError):
    """A model has more to do than it can, and the request waited as long as it may."""

    code = "model_busy"
    retryable = True


class ModelTimeoutError(ModelError):
    """A model took longer than it may."""

    code = "model_timeout"
    http_status = 504


class RemoteModelError(ModelError):
    """The conversation would leave this machine, and its owner did not allow that."""

    code = "model_remote"
    http_status = 403


class UnsupportedModelError(ModelError):
    """The model cannot do what is asked of it."""

    code = "model_unsupported"
    http_status = 400


class ContextTooLongError(ModelError):
    """The conversation does not fit into the model's context."""

    code = "context_length_exceeded"
    http_status = 400


class ServerUnreachableError(CloxyError):
    """Client side: nothing answers at the address."""

    code = "server_unreachable"
    exit_code = 2


class StoreError(CloxyError):
    """The database cannot do what was asked."""

    code = "store"
    exit_code = 11


class MigrationError(StoreError):
    """The schema cannot be brought up to date."""

    code = "migration"


class StoreBusyError(StoreError):
    """Too much is waiting to be written."""

    code = "store_busy"
    http_status = 503
    retryable = True


class StoreFullError(StoreError):
    """The disk is full, or below the reserve that Cloxy keeps free."""

    code = "store_full"
    http_status = 507
    retryable = True


class IntegrityError(StoreError):
    """The database is damaged."""

    code = "integrity"


class DataDirectoryInUseError(StoreError):
    """Another server has the data directory."""

    code = "data_directory_in_use"


class ForeignDatabaseError(StoreError):
    """A database is another program's, or cannot be read now; it is left untouched."""

    code = "foreign_database"
