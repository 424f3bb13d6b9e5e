"""What a plugin must be to take part: all of it is registered, or nothing."""

import types

import pytest

from cloxy_core.kernel.manager import IncompatiblePluginError, create_manager, register_plugin
from cloxy_hookspecs import API_VERSION, PluginContractError, hookimpl


def module(source, name="made_up"):
    made = types.ModuleType(name)
    exec(compile(source, name, "exec"), {**vars(made), "hookimpl": hookimpl}, vars(made))
    for value in vars(made).values():
        if isinstance(value, types.FunctionType):
            value.__module__ = name
    return made


GOOD = "@hookimpl\ndef cloxy_checks():\n    return []\n"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("@hookimpl\ndef cloxy_chekcs():\n    return []\n", "there is no hook 'cloxy_chekcs'"),
        ("@hookimpl\ndef cloxy_sources(host):\n    return []\n", "host"),
        ("@hookimpl(wrapper=True)\ndef cloxy_sources():\n    return (yield)\n", "a wrapper"),
        ("def cloxy_sources():\n    return []\n", "cloxy_sources is not marked"),
        (
            "@hookimpl(specname='cloxy_nothing')\ndef any_name():\n    return []\n",
            "there is no hook 'cloxy_nothing'",
        ),
    ],
)
def test_what_does_not_fit_is_refused_whole(source, words):
    manager = create_manager()
    with pytest.raises(PluginContractError) as raised:
        register_plugin(manager, "mine", module(GOOD + source))
    assert words in str(raised.value)
    assert manager.get_plugin("mine") is None
    assert manager.hook.cloxy_checks.get_hookimpls() == []
    register_plugin(manager, "mine", module(GOOD))
    assert len(manager.hook.cloxy_checks.get_hookimpls()) == 1


@pytest.mark.parametrize("version", [API_VERSION + 1, 0, "1", None])
def test_other_version_of_the_contract(version):
    with pytest.raises(IncompatiblePluginError, match="contract"):
        register_plugin(
            create_manager(), "mine", module(GOOD + f"CLOXY_API_VERSION = {version!r}\n")
        )


def test_right_version_optional_hook_and_specname_pass():
    manager = create_manager()
    source = (
        f"CLOXY_API_VERSION = {API_VERSION}\n"
        "@hookimpl(optionalhook=True)\ndef cloxy_of_tomorrow():\n    return []\n"
        "@hookimpl(specname='cloxy_sources')\ndef mine():\n    return []\n"
    )
    register_plugin(manager, "mine", module(GOOD + source))
    assert len(manager.hook.cloxy_sources.get_hookimpls()) == 1


def test_class_is_refused_and_object_taken():
    class Plugin:
        @hookimpl
        def cloxy_checks(self):
            return ["answer"]

    manager = create_manager()
    with pytest.raises(PluginContractError, match="names a class"):
        register_plugin(manager, "mine", Plugin)
    register_plugin(manager, "mine", Plugin())
    (implementation,) = manager.hook.cloxy_checks.get_hookimpls()
    assert implementation.function() == ["answer"]


def test_name_or_module_cannot_be_registered_twice():
    manager = create_manager()
    plugin = module(GOOD)
    register_plugin(manager, "mine", plugin)
    for name, again in (("mine", module(GOOD)), ("other", plugin)):
        with pytest.raises(PluginContractError, match="already registered"):
            register_plugin(manager, name, again)
    assert manager.get_plugin("mine") is plugin
