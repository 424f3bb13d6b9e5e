"""The log: masked, one record one line, private, rotated."""

import logging
import re
import stat
from pathlib import Path

import pytest

from cloxy_core.kernel import logging as kernel_logging
from cloxy_core.kernel.logging import SafeFormatter, logging_to, plugin_logger


def mask(text):
    return re.sub(r"sk-\w+(\s\w+ end)?", "[secret]", text)


@pytest.fixture
def log(tmp_path):
    folder = tmp_path / "logs"
    with logging_to(folder, level="info", mask=mask):
        yield folder / "cloxy.log"


def test_secret_is_masked_wherever_it_stands(log):
    logger = plugin_logger("mine")
    logger.info("key %s", "sk-abc123")
    logger.info("over two lines: sk-abc\nmore end")
    try:
        raise ValueError("bad key sk-def456")
    except ValueError:
        logger.exception("failed for sk-ghi789")
    text = log.read_text()
    assert "sk-" not in text
    assert text.count("[secret]") == 5  # the traceback shows the raising line, too
    assert "cloxy.plugins.mine" in text


def test_no_text_can_forge_a_line(log):
    forged = "2026-01-01T00:00:00+0000 ERROR cloxy: all is lost"
    plugin_logger("mine").warning("hello\n%s\r\x1b[2J\u2028\u202e", forged)
    try:
        raise ValueError(f"x\n{forged}")
    except ValueError:
        plugin_logger("mine").exception("it\x85failed", stack_info=True)
    lines = log.read_text().splitlines()
    records = [line for line in lines if not line.startswith("  | ")]
    assert len(records) == 2
    assert records[0].endswith(rf"hello\n{forged}\r\x1b[2J\u2028\u202e")
    assert r"it\x85failed" in records[1]
    assert any(forged in line for line in lines if line.startswith("  | "))


def test_lone_surrogates_are_shown():
    # Formatted directly: the test runner cannot pass such a text on.
    record = logging.LogRecord("cloxy", logging.INFO, "", 1, "a\ud800b", None, None)
    assert SafeFormatter(mask).format(record).endswith(r"a\ud800b")


def test_wrong_format_arguments_do_not_lose_the_record_nor_print_it(tmp_path, capfd):
    # Handed over directly: the test runner's own handler raises for such a record.
    record = logging.LogRecord("cloxy", logging.INFO, "", 1, "%d of %s", ("sk-abc123",), None)
    with logging_to(tmp_path, level="info", mask=mask) as handler:
        handler.handle(record)
    assert "%d of %s (its arguments do not fit" in (tmp_path / "cloxy.log").read_text()
    assert capfd.readouterr() == ("", "")


def test_nothing_is_written_unmasked_when_the_mask_fails():
    def broken(text):
        raise RecursionError

    record = logging.LogRecord("cloxy", logging.INFO, "", 1, "sk-abc123", None, None)
    written = SafeFormatter(broken).format(record)
    assert "sk-abc123" not in written
    assert "masking failed with RecursionError" in written


def test_level_and_end(tmp_path):
    logger = plugin_logger("mine")
    with logging_to(tmp_path, level="warning", mask=mask):
        logger.info("quiet")
        logger.warning("loud")
        assert not logging.getLogger("cloxy").propagate
    logger.warning("afterwards")
    assert logging.getLogger("cloxy").propagate
    lines = (tmp_path / "cloxy.log").read_text().splitlines()
    assert len(lines) == 1
    assert lines[0].endswith("loud")


def test_files_are_private_and_rotated(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel_logging, "FILE_BYTES", 500)
    folder = tmp_path / "logs"
    folder.mkdir()
    with logging_to(folder, level="info", mask=mask):
        for number in range(100):
            plugin_logger("mine").info("record %d", number)
    files = sorted(folder.iterdir())
    assert [file.name for file in files] == ["cloxy.log"] + [f"cloxy.log.{n}" for n in (1, 2, 3)]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert all(file.stat().st_size <= 500 for file in files)


def test_a_file_that_others_could_read_is_closed_to_them(tmp_path):
    loose = tmp_path / "cloxy.log"
    loose.touch(mode=0o644)
    with logging_to(tmp_path, level="info", mask=mask):
        assert stat.S_IMODE(loose.stat().st_mode) == 0o600


def test_a_link_is_not_written_through(tmp_path):
    target = tmp_path / "target"
    target.touch()
    (tmp_path / "cloxy.log").symlink_to(target)
    with pytest.raises(OSError), logging_to(tmp_path, level="info", mask=mask):
        pass
    assert target.read_bytes() == b""


def test_what_cannot_be_written_is_counted(tmp_path, capfd):
    with logging_to(tmp_path, level="info", mask=mask) as handler:
        handler.stream.close()
        handler.stream = Path("/dev/full").open("w", buffering=1)  # noqa: SIM115 - closed below
        plugin_logger("mine").info("sk-abc123")
        assert handler.dropped == 1
        with pytest.raises(OSError):
            handler.stream.close()
        handler.stream = None
    assert capfd.readouterr() == ("", "")
