"""Settings as such: the file, its types and errors, records of plugins."""

from pathlib import Path

import pytest

from cloxy_core.kernel.config_file import read_config
from cloxy_core.kernel.parsing import (
    PathList,
    Seconds,
    TextList,
    WholeNumber,
    parse_flag,
    parse_text,
)
from cloxy_core.kernel.settings import Settings
from cloxy_hookspecs import Setting, SettingError


def setting(name, default, parse, **more):
    return Setting(name=name, default=default, parse=parse, help="", **more)


NUMBER = setting("group.number", 1, WholeNumber(0, 99))
FLAG = setting("group.flag", False, parse_flag)
TEXT = setting("group.text", "x", parse_text)
TIME = setting("group.time", 1.0, Seconds())
NAMES = setting("group.names", ("default",), TextList())
PATHS = setting("group.paths", (), PathList())
PREFIX = setting("group.prefix", "p: ", str, empty_is_value=True)
SECRET = setting("group.secret", "", int, secret=True)
ALL = (NUMBER, FLAG, TEXT, TIME, NAMES, PATHS, PREFIX, SECRET)


@pytest.fixture
def from_file(tmp_path):
    def build(text, **more):
        file = tmp_path / "config.toml"
        file.write_text(text, encoding="utf-8")
        return Settings(ALL, file=read_config(file), **more)

    return build


@pytest.mark.parametrize(
    ("line", "record", "value"),
    [
        ("number = 7", NUMBER, 7),
        ('number = "7"', NUMBER, 7),
        ("flag = true", FLAG, True),
        ("flag = false", FLAG, False),
        ("flag = 1", FLAG, True),
        ("time = 2", TIME, 2.0),
        ("time = 2.5", TIME, 2.5),
        ('text = "ü"', TEXT, "ü"),
        ('text = ""', TEXT, "x"),
        ('names = ["a", "b"]', NAMES, ("a", "b")),
        ('names = "a,b"', NAMES, ("a", "b")),
        ("names = []", NAMES, ()),
        ('paths = ["/a", "/b c"]', PATHS, (Path("/a"), Path("/b c"))),
        ('prefix = ""', PREFIX, ""),
    ],
)
def test_types_of_the_file(from_file, line, record, value):
    got = from_file(f"[group]\n{line}\n")[record]
    assert (got, type(got)) == (value, type(value))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("number = true", "'true' cannot be used; wants a whole number from 0 to 99"),
        ("number = 7.0", "wants a whole number"),
        ("number = 100", "wants a whole number"),
        ("number = [1]", "a list cannot be used"),
        ("number = 1979-05-27", "a date cannot be used"),
        ('text = ["a"]', "a list cannot be used"),
        ("names = [1]", "wants texts only"),
        ('names = ["a,b"]', "must not contain ','"),
        ('flag = "maybe"', "wants 1, true, yes or on"),
        ("time = inf", "greater than 0"),
        ("[[group.number]]", "a list cannot be used"),
    ],
)
def test_bad_value_in_the_file_names_file_line_and_key(from_file, tmp_path, line, words):
    key = line.partition(" ")[0].strip("[]").removeprefix("group.")
    with pytest.raises(SettingError) as raised:
        from_file(f"# one\n\n[group]\n{line}\n").check()
    assert raised.value.message.startswith(str(tmp_path / "config.toml"))
    assert f"group.{key}: " in raised.value.message
    assert words in raised.value.message
    if not line.startswith("["):
        assert ", line 4: " in raised.value.message


@pytest.mark.parametrize(
    ("text", "line", "hint"),
    [
        ("[group]\nnumbr = 1\n", 2, "did you mean 'group.number'?"),
        ("[gruop]\nnumber = 1\n", 2, "did you mean 'group.number'?"),
        ("number = 1\n", 1, "did you mean 'group.number'?"),
        ("group.numbr = 1\n", 1, "did you mean 'group.number'?"),
        ("[ group ] # here\n'numbr' = 1\n", 2, "did you mean 'group.number'?"),
        ("[group]\nnumber = 1\n[zzz]\nqqq = 1\n", 4, "remove it"),
    ],
)
def test_unknown_key_has_a_line_and_the_nearest_name(from_file, text, line, hint):
    with pytest.raises(SettingError) as raised:
        from_file(text).check()
    assert f"line {line}: unknown setting" in raised.value.message
    assert raised.value.hint == hint


def test_groups_of_plugins_that_are_off_are_tolerated(from_file):
    settings = from_file("[asleep]\nkey = 1\n")
    settings.check(tolerated_groups={"asleep"})
    with pytest.raises(SettingError):
        settings.check()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"[group\n", r"line 1"),
        (b"a = 1\na = 2\n", r"line 2"),
        (b"a = 1\nb = \xff\n", r"line 2: not UTF-8"),
        (b"a = " + b"[" * 50_000, r"not valid TOML"),
    ],
)
def test_file_that_is_not_toml(tmp_path, data, words):
    file = tmp_path / "config.toml"
    file.write_bytes(data)
    with pytest.raises(SettingError, match=words) as raised:
        read_config(file)
    assert str(file) in raised.value.message


def test_file_may_be_absent_or_begin_with_a_mark_and_must_be_a_file(tmp_path):
    assert read_config(tmp_path / "none.toml").values == {}
    marked = tmp_path / "marked.toml"
    marked.write_bytes(b"\xef\xbb\xbfa.b = 1\r\n")
    assert read_config(marked).values == {"a.b": 1}
    with pytest.raises(SettingError, match="cannot be read"):
        read_config(tmp_path)


def test_empty_text_counts_only_where_it_is_a_value(from_file):
    environment = {"CLOXY_GROUP_TEXT": "", "CLOXY_GROUP_PREFIX": ""}
    settings = from_file('[group]\ntext = "file"\nprefix = "file"\n', environment=environment)
    assert settings[TEXT] == "file"
    assert settings[PREFIX] == ""


def test_secret_never_gets_into_an_error(from_file):
    settings = from_file("", environment={"CLOXY_GROUP_SECRET": "hunter2"})
    with pytest.raises(SettingError) as raised:
        settings[SECRET]
    chain = raised.value.__cause__, raised.value.__context__
    assert "hunter2" not in str(raised.value) + repr(chain)
    assert "CLOXY_GROUP_SECRET" in raised.value.message


def test_parser_that_breaks_is_an_error_of_the_setting():
    broken = setting("group.broken", 1, lambda text: 1 // 0)
    settings = Settings((broken,), environment={"CLOXY_GROUP_BROKEN": "1"})
    with pytest.raises(SettingError, match=r"CLOXY_GROUP_BROKEN.*ZeroDivisionError"):
        settings.check()


def test_undeclared_setting_is_refused_and_first_declaration_stays():
    settings = Settings((NUMBER,))
    with pytest.raises(SettingError, match="not declared"):
        settings[FLAG]
    settings.declare([setting("group.number", 5, int), FLAG])
    assert (settings.named("group.number"), settings[FLAG]) == (1, False)


def test_record_of_the_same_name_is_read_with_its_own_parser():
    # A plugin cannot import the core's record, but may have one of the same name to read it by.
    settings = Settings((NUMBER,), environment={"CLOXY_GROUP_NUMBER": "7"})
    assert settings[setting("group.number", "", str)] == "7"


def test_unknown_name_has_the_nearest():
    with pytest.raises(SettingError) as raised:
        Settings(ALL).explain("group.nmber")
    assert raised.value.hint == "did you mean 'group.number'?"


def test_long_and_unprintable_values_are_shown_safely():
    settings = Settings((NUMBER,), environment={"CLOXY_GROUP_NUMBER": "\x1b[2J" + "9" * 5000})
    with pytest.raises(SettingError) as raised:
        settings[NUMBER]
    assert raised.value.message.isprintable()
    assert len(raised.value.message) < 400


def test_explained_lists_and_flags(from_file):
    settings = from_file('[group]\nnames = ["a", "b"]\nflag = true\n')
    assert settings.explain("group.names").value == "a, b"
    assert settings.explain("group.flag").value == "true"
