"""Whatever happens to a file, the store holds what a simple model says."""

import os
import tempfile

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ingest_support import Server, append
from session_lines import instant, line

WORDS = st.text(st.sampled_from("ab Z.\n!?é水🚀\u2028\t\"'\\-_"), min_size=1, max_size=60).filter(
    str.strip
)
TEXTS = st.one_of(
    WORDS,
    WORDS,
    WORDS,
    st.builds(lambda w, n: (w + " ") * n + "end", WORDS, st.integers(2, 90)),
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.lists(TEXTS, min_size=1, max_size=6)),
        st.tuples(st.just("tear"), TEXTS, st.integers(1, 200)),
        st.tuples(st.just("rewrite"), st.lists(TEXTS, min_size=1, max_size=6)),
        st.tuples(st.just("edit"), st.integers(0, 30), TEXTS),
        st.tuples(st.just("behead"), st.integers(1, 5)),
        st.tuples(st.just("rename"), st.booleans()),
        st.tuples(st.just("copy")),
        st.tuples(st.just("force")),
        st.tuples(st.just("touch"), st.integers(-5, 5)),
        st.tuples(st.just("restart")),
        st.tuples(st.just("wait")),
    ),
    min_size=2,
    max_size=9,
)
FEW = settings(
    max_examples=20,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


class Model:
    """A session file, and what must be stored of it."""

    def __init__(self, server):
        self.server = server
        self.path = server.file()
        self.rows = []  # what the file holds: [uid, text]
        self.torn = b""
        self.stored = {}
        self.count = 0
        self.clock = 2_000_000_000
        self.save()

    def record(self, uid, text):
        number = int(uid[1:])
        role = "assistant" if number % 2 else "user"
        return {
            "type": role,
            "uuid": uid,
            "sessionId": "s1",
            "cwd": "/srv/demo/app",
            "timestamp": instant(number),
            "message": {"role": role, "content": text},
        }

    def fresh(self, texts):
        self.count += len(texts)
        first = self.count - len(texts)
        return [[f"u{first + n}", text] for n, text in enumerate(texts)]

    def save(self):
        """Write the whole file in place, at a time of its own."""
        self.path.write_bytes(b"".join(line(self.record(*row)) for row in self.rows) + self.torn)
        self.touch()

    def touch(self, back=0):
        self.clock += 10
        moment = (self.clock + back) * 1_000_000_000
        os.utime(self.path, ns=(moment, moment))

    def finish_torn(self):
        """A line that was torn is completed before anything else is written."""
        if self.torn:
            whole = line(self.record(*self.pending))
            append(self.path, whole[len(self.torn) :])
            self.rows.append(self.pending)
            self.torn = b""

    def step(self, name, *given):
        getattr(self, f"do_{name}")(*given)
        self.server.ingest()
        for uid, text in self.rows:
            self.stored[uid] = text
        self.verify()

    def do_append(self, texts):
        self.finish_torn()
        for row in self.fresh(texts):
            append(self.path, line(self.record(*row)))
            self.rows.append(row)
        self.touch()

    def do_tear(self, text, cut):
        self.finish_torn()
        ((uid, _text),) = self.fresh([text])
        self.pending = [uid, text]
        self.torn = line(self.record(uid, text))[:-1][:cut]
        if self.torn == line(self.record(uid, text))[:-1]:
            self.torn = self.torn[:-1]
        append(self.path, self.torn)
        self.touch()

    def do_rewrite(self, texts):
        self.torn, self.rows = b"", self.fresh(texts)
        self.save()

    def do_edit(self, number, text):
        self.finish_torn()
        if self.rows:
            self.rows[number % len(self.rows)][1] = text
        self.save()

    def do_behead(self, count):
        self.finish_torn()
        del self.rows[:count]
        self.save()

    def do_rename(self, folder):
        target = self.server.file(f"r{self.clock}.jsonl", "-srv-moved" if folder else "-srv")
        self.path = self.path.rename(target)

    def do_copy(self):
        copy = self.path.with_name("copy.new")
        copy.write_bytes(self.path.read_bytes())
        copy.replace(self.path)
        self.touch()

    def do_force(self):
        self.server.ingest(force=True)

    def do_touch(self, back):
        self.touch(back)

    def do_restart(self):
        self.server.restart()

    def do_wait(self):
        pass

    def verify(self):
        server = self.server
        found = server.messages()
        assert dict(found) == self.stored
        assert len(found) == len(self.stored)
        server.check(bounded=False)
        assert server.ingest().messages_added == 0
        offset, state = server.cursor(self.path)
        assert offset == self.path.stat().st_size - len(self.torn)
        assert state in ("waiting", "watched", "provisional", "drift")
        assert server.messages() == found


@FEW
@given(STEPS)
def test_the_store_equals_the_model_after_every_step(steps):
    with tempfile.TemporaryDirectory() as folder, Server(folder) as server:
        model = Model(server)
        for name, *rest in steps:
            model.step(name, *rest)


@FEW
@given(
    st.lists(TEXTS, min_size=1, max_size=14),
    st.lists(st.integers(0, 13), min_size=1, max_size=4),
    st.booleans(),
)
def test_forgetting_removes_what_it_says_and_keeps_the_rest(texts, wanted, force):
    with tempfile.TemporaryDirectory() as folder, Server(folder) as server:
        model = Model(server)
        model.do_append(texts)
        server.ingest()
        for number in wanted:
            parts = server.parts()
            if not parts:
                break
            victim = parts[number % len(parts)].memory
            inside = {part.uid for part in parts if part.memory == victim}
            lost = {text for uid, text in server.messages() if uid in inside and len(text) >= 40}
            expected = [
                (uid, text)
                for uid, text in server.messages()
                if uid not in inside and text not in lost
            ]
            server.forget(victim)
            assert server.messages() == expected
            server.check()
            server.ingest(force=force)
            assert server.messages() == expected
            server.check()
