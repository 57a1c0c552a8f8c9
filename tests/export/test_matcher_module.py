import keras
import numpy as np
import pytest
import tensorflow as tf

from export import matcher_module, saved_model
from gcap_tf.matchers import catalog
from gcap_tf.runs import run_folders
from gcap_tf.text import tokenizer
from gcap_tf.text import vocabulary as vocabularies
from serving import embedded, servables, versions
from tests.serving import harness

WORDS = (*vocabularies.MATCHER_SPECIALS, "a", "man", "rides", "horse", "dog", ".")
VOCABULARY = vocabularies.Vocabulary("matcher", WORDS)
NOUNS = [word in ("man", "horse", "dog") for word in WORDS]
FEATURES = 6
CAPTIONS = [b"A man rides a horse.", b"dog", b"", b"an unknown \xff zebra"]


def make_run(folder, name="scan"):
  keras.utils.set_random_seed(1)
  cls = catalog.MATCHERS.get(name)
  sizes = {"vocabulary_size": len(WORDS), "feature_size": FEATURES}
  small = {"embed_size": 8, "joint_size": 8, "word_size": 5, "embedding_size": 5}
  fields = cls.Config.__dataclass_fields__
  options = {key: value for key, value in {**sizes, **small}.items() if key in fields}
  model = run_folders.make_model("matcher", name, cls.Config(**options))
  return run_folders.Run(folder, "matcher", name, model, VOCABULARY, {})


def request(captions=CAPTIONS, regions=3, seed=0):
  rng = np.random.default_rng(seed)
  count = len(captions)
  low = rng.uniform(0, 0.5, (count, regions, 2))
  return {
    "features": rng.normal(size=(count, regions, FEATURES)).astype(np.float32),
    "boxes": np.concatenate([low, low + 0.4], -1).astype(np.float32),
    "num_regions": rng.integers(1, regions + 1, count).astype(np.int32),
    "captions": np.array(captions, object),
  }


@pytest.fixture(scope="module")
def run(tmp_path_factory):
  return make_run(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def folder(run, tmp_path_factory):
  module = matcher_module.MatcherModule(run.model, VOCABULARY, NOUNS, max_words=8)
  folder = tmp_path_factory.mktemp("models") / "1"
  saved_model.save(module, str(folder), module.signatures())
  return folder


@pytest.fixture(scope="module")
def servable(folder):
  loaded = servables.Servable(folder)
  yield loaded
  loaded.close()


def test_score_is_the_matchers_own(run, servable):
  given = request()
  answer = servable.run(servable.signature("score"), given)
  tokens = [VOCABULARY.encode(tokenizer.tokenize(c.decode("utf-8", "replace"))) for c in CAPTIONS]
  longest = max(map(len, tokens))
  padded = np.array([row + [0] * (longest - len(row)) for row in tokens], np.int32)
  mask = np.arange(3) < given["num_regions"][:, None]
  batch = {
    "features": tf.constant(np.where(mask[..., None], given["features"], 0)),
    "boxes": tf.constant(given["boxes"]),
    "region_mask": tf.constant(mask),
    "tokens": tf.constant(padded),
    "token_mask": tf.constant(padded > 0),
    "noun_mask": tf.gather(tf.constant(NOUNS), padded),
  }
  images, captions = run.model.encode_images(batch), run.model.encode_captions(batch)
  similarity = run.model.similarity(images, captions).numpy()
  np.testing.assert_allclose(answer["similarity"], np.diag(similarity), rtol=1e-4, atol=1e-5)
  attention = run.model.attention(images, captions).numpy()
  np.testing.assert_allclose(answer["attention"][:, :longest], attention, atol=1e-5)
  assert answer["attention"].shape == (4, 10, 3)
  assert answer["length"].tolist() == [len(row) for row in tokens]
  assert answer["words"][0, :3].tolist() == [b"<start>", b"a", b"man"]


def test_score_depends_neither_on_the_batch_nor_on_padding(servable):
  signature = servable.signature("score")
  given = request(seed=3)
  together = servable.run(signature, given)
  for row in range(len(CAPTIONS)):
    count = given["num_regions"][row]
    alone = {name: array[row : row + 1] for name, array in given.items()}
    alone = {name: a[:, :count] if a.ndim > 1 else a for name, a in alone.items()}
    found = servable.run(signature, alone)
    np.testing.assert_allclose(found["similarity"][0], together["similarity"][row], atol=1e-5)
    np.testing.assert_allclose(
      found["attention"][0], together["attention"][row, :, :count], atol=1e-5
    )


def test_long_captions_are_cut_and_still_end(servable):
  answer = servable.run(servable.signature("score"), request([b"dog " * 50]))
  assert answer["length"].tolist() == [10]
  assert answer["words"][0, -1] == b"<end>"


def test_embeddings_are_served(servable):
  given = request()
  captions = {"captions": given.pop("captions")}
  regions = servable.run(servable.signature("embed"), given)["regions"]
  assert regions.shape[:2] == (4, 3)
  words = servable.run(servable.signature("embed_captions"), captions)
  assert words["words"].shape[:2] == (4, 10)
  assert words["length"][1] == 3


@pytest.mark.parametrize("count", [0, 1])
def test_empty_batches_are_answered(servable, count):
  given = request(CAPTIONS[:count])
  assert servable.run(servable.signature("score"), given)["similarity"].shape == (count,)


def test_server_loads_text_operations_by_itself_and_answers_strings(folder):
  config = versions.ModelConfig("matcher", folder.parent)
  with embedded.Server(embedded.ServerConfig(models=(config,))) as server:
    caller = harness.Caller(server)
    answer = caller.predict(request(), "score", name="matcher")
    assert answer["similarity"].shape == (4,)
    caller.close()


def test_export_publishes_a_verified_matcher(run, tmp_path):
  folder = saved_model.export(run, tmp_path)
  servable = servables.Servable(folder)
  assert set(servable.signatures) == {"serving_default", "score", "embed", "embed_captions"}
  assert servable.run_warmup_requests() == 8
  servable.close()


@pytest.mark.parametrize("name", sorted(set(catalog.MATCHERS.names()) - {"scan"}))
def test_every_matcher_is_exported(name, tmp_path):
  run = make_run(tmp_path, name)
  module = matcher_module.MatcherModule(run.model, VOCABULARY, NOUNS, max_words=8)
  folder = tmp_path / "1"
  score = tf.function(module.score, autograph=False)
  saved_model.save(
    module, str(folder), {"score": score.get_concrete_function(**module.specs("score"))}
  )
  servable = servables.Servable(folder)
  given = request(seed=5)
  answer = servable.run(servable.signature("score"), given)
  servable.close()
  wanted = module.python_answer("score", {k: tf.constant(v) for k, v in given.items()})
  assert ("attention" in answer) == run.model.attends
  for output in set(wanted) & {"similarity", "attention"}:
    np.testing.assert_allclose(answer[output], wanted[output], atol=1e-5, err_msg=output)
  assert np.ptp(answer["similarity"]) > 0


def test_whole_pictures_and_captions_are_embedded_where_a_matcher_compares_those(tmp_path):
  module = matcher_module.MatcherModule(
    make_run(tmp_path, "vsepp").model, VOCABULARY, NOUNS, max_words=8
  )
  given = {name: tf.constant(value) for name, value in request().items()}
  captions = given.pop("captions")
  images = module.embed(**given)["image"]
  embedded = module.embed_captions(captions)["caption"]
  similarity = module.score(captions, **given)["similarity"]
  np.testing.assert_allclose(tf.reduce_sum(images * embedded, 1), similarity, atol=1e-5)
