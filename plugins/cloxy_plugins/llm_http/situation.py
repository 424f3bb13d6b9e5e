"""What is asked, and whether that is this machine."""

from dataclasses import dataclass, field

from cloxy_hookspecs import ConfigError, ModelChoices, ModelMissingError, RemoteModelError
from cloxy_plugins.llm_http.address import Address, Target, is_remote, seems_local, target
from cloxy_plugins.llm_http.connections import REMOTE_HINT, Connections, bad_choice, not_here
from cloxy_plugins.llm_http.listing import Listing


@dataclass(frozen=True, slots=True)
class Options:
    """What the settings say.

    Attributes:
        base_url: the server; None leaves it to what `cloxy init` set up.
        model: which of its models; empty for its first.
        key: sent as bearer; empty for none.
        allow_remote: whether conversations may leave this machine.
    """

    base_url: Address | None = None
    model: str = ""
    key: str = field(default="", repr=False)
    allow_remote: bool = False


class Situation:
    """What the settings and `cloxy init` say, and what was learned of the server."""

    def __init__(
        self,
        options: Options,
        choices: ModelChoices | None,
        connections: Connections,
        listing: Listing,
    ) -> None:
        """Ask nothing.

        Args:
            options: what the settings say.
            choices: what `cloxy init` set up.
            connections: to the server.
            listing: its models.
        """
        self._options = options
        self._choices = choices
        self._connections = connections
        self._listing = listing

    def find(self) -> Target | None:
        """What is asked.

        Raises:
            ConfigError: what was set up cannot be read.
        """
        options = self._options
        choice = None
        if options.base_url is None and self._choices is not None:
            choice = self._choices.current()
        try:
            return target(options.base_url, options.model, choice)
        except ValueError as error:
            raise bad_choice(error) from error

    def required(self) -> Target:
        """What is asked.

        Raises:
            ModelMissingError: nothing is.
            ConfigError: what was set up cannot be read.
        """
        found = self.find()
        if found is None:
            raise ModelMissingError(
                "no server of models is set up",
                hint="set CLOXY_LLM_BASE_URL, for example to http://localhost:11434/v1",
            )
        return found

    def quietly(self) -> Target | None:
        """What is asked; None also when that cannot be read."""
        try:
            return self.find()
        except ConfigError:
            return None  # told to whoever asks the model

    @property
    def remote(self) -> bool:
        """Whether a conversation leaves this machine; so it is taken for a name not looked up."""
        found = self.quietly()
        if found is None:
            return False
        cloud = self._listing.known_cloud(found.address, found.model)
        return cloud or not self.is_local(found.address)

    @property
    def trouble(self) -> str | None:
        """Why it cannot be asked, as far as that is known without asking."""
        try:
            found = self.find()
        except ConfigError as error:
            return str(error)
        if found is None or self._options.allow_remote:
            return None
        if self._listing.known_cloud(found.address, found.model):
            return str(passed_on(found, found.model))
        if self._connections.known_local(found.address) is False or is_remote(found.address.host):
            return str(not_here(found.address))
        return None

    def is_local(self, address: Address) -> bool:
        """Whether a server is this machine; a name is not taken to be before it was looked up."""
        known = self._connections.known_local(address)
        return seems_local(address.host) if known is None else known


def passed_on(found: Target, model: str) -> RemoteModelError:
    """The error for a model that the server has only the name of."""
    return RemoteModelError(
        f"the model {model!r} does not run on this machine: {found.address.origin} passes "
        "conversations on to ollama.com",
        hint=REMOTE_HINT,
    )
