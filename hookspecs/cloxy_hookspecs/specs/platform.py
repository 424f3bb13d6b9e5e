"""Hooks of the platform: settings, migrations, checks."""

from collections.abc import Iterable

from cloxy_hookspecs.markers import hookspec
from cloxy_hookspecs.providers.platform import CheckProvider, Migration
from cloxy_hookspecs.types.settings import Setting


class PlatformSpecs:
    """What a plugin needs of the platform."""

    @hookspec
    def cloxy_settings(self) -> Iterable[Setting[object]]:
        """Settings that the plugin declares.

        Example:
            ```python
            GREETING: Setting[str] = Setting(
                name="greeter.greeting", default="hello", parse=str.strip, help="What to say."
            )

            @hookimpl
            def cloxy_settings():
                yield GREETING
            ```
        """
        raise NotImplementedError

    @hookspec
    def cloxy_migrations(self) -> Iterable[Migration]:
        """Steps of the plugin's own tables.

        Example:
            ```python
            def first(connection):
                connection.exec_driver_sql("CREATE TABLE greeter_log (id INTEGER PRIMARY KEY)")

            @hookimpl
            def cloxy_migrations():
                yield Migration(owner="greeter", number=1, summary="the log", apply=first)
            ```
        """
        raise NotImplementedError

    @hookspec
    def cloxy_checks(self) -> Iterable[CheckProvider]:
        """Checks whose findings `cloxy status` shows.

        Example:
            ```python
            class Spare:
                async def run(self):
                    return [Finding("ok", "there is room")]

            @hookimpl
            def cloxy_checks():
                yield CheckProvider(
                    name="spare", summary="room", create=lambda context: Spare()
                )
            ```
        """
        raise NotImplementedError
