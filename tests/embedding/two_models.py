"""A server with the real index of vectors and two models whose vectors have nothing in common."""

import numpy as np
from embedding_support import Place, Words, plugin, provider

from cloxy_hookspecs import Query

FORMER, LATER = "fake/words", "fake/others"


class Turned(Words):
    """The same likeness between texts, in directions of its own: a mix of both finds nonsense."""

    def __init__(self, **more):
        super().__init__(model=LATER, **more)

    def embed_passages(self, texts):
        return np.roll(super().embed_passages(texts), 5, axis=1)

    def embed_queries(self, texts):
        return np.roll(super().embed_queries(texts), 5, axis=1)


class TwoModels(Place):
    """The settings name a model in config.toml, which is read again for each reembedding."""

    def __init__(
        self,
        folder,
        former=None,
        later=None,
        *,
        default=FORMER,
        second="second",
        at_hand=None,
        **settings,
    ):
        """`second` is the record of the model which is not the default, and `at_hand` its own."""
        self.former, self.later = former or Words(dim=64), later or Turned(dim=64)
        super().__init__(folder, self.former, **settings)
        self._settings.pop("plugins.disabled")
        self._settings.pop("embed.provider")
        if "embed__provider" in settings:
            self._settings["embed.provider"] = settings["embed__provider"]
        usual, other = self.former, self.later
        if default == LATER:
            usual, other = other, usual
        records = [provider(usual, "minilm"), provider(other, second, at_hand=at_hand)]
        self._settings["plugins.disabled"] = "minilm,fastembed"
        self._plugins["words"] = plugin(embedders=records)

    def choose(self, model):
        """Name a model in config.toml."""
        self.data.mkdir(parents=True, exist_ok=True)
        (self.data / "config.toml").write_text(f'[embed]\nmodel = "{model}"\n')

    @property
    def moving(self):
        return self.embedding.moving

    def hold(self):
        """Let passages of the second space wait from now on."""

        async def held():
            return "the test holds it"

        self.moving.pause = held

    def release(self):
        """Let it go on."""
        self.moving.pause = self.embedding._pause
        self.moving.wake()

    def reembed(self, **expected):
        return self.do(self.engine.reembedding.start(expected))

    def filled(self, *texts):
        self.remember(*texts)
        self.start()
        self.until_full()
        return self

    def until_full(self):
        async def full():
            status = await self.embedding.status()
            return status.state == "ready" and not status.backlog and self.indexing.ready("dense")

        self.until(full)

    def until_moved(self, state="done"):
        self.until(lambda: self.moving.state == state)

    def until_tidy(self):
        async def tidy():
            spaces = (await self.embedding.status()).spaces
            return not any(each.state == "leaving" for each in spaces)

        self.until(tidy)

    async def nearest(self, text):
        """The most similar note by meaning alone, and how similar it is."""
        answer = await self.engine.recaller.recall(Query(text, 1, 0, mode="dense"))
        hit = answer.hits[0]
        return hit.passages[0].text, hit.similarity

    def ask(self, text):
        return self.do(self.nearest(text))

    def sql(self, statement):
        """Change the store behind the server's back."""

        def change(connection):
            connection.exec_driver_sql(statement)

        self.write(change)

    def spaces(self):
        """State and number of vectors by model."""
        return {each.model: (each.state, each.vectors) for each in self.status().spaces}

    def sound(self):
        """Every stored vector is that of its own space's model."""
        for model, text, vector in self.rows(
            "SELECT s.model, substr(m.content, p.char_start + 1, p.char_end - p.char_start),"
            " e.vector FROM embeddings e JOIN embedding_spaces s ON s.id = e.space_id"
            " JOIN passages p ON p.id = e.passage_id JOIN memories m ON m.id = p.memory_id"
            " WHERE p.text_hash = e.text_hash"
        ):
            words = {FORMER: self.former, LATER: self.later}[model]
            wanted = words.fake.embed_passages([text[: words.info.characters]])
            wanted = np.roll(wanted, 5, axis=1) if model == LATER else wanted
            assert np.allclose(np.frombuffer(vector, "<f4"), wanted[0], atol=1e-5), (model, text)
