import hypothesis
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import strategies

from export import captioner_module
from gcap_tf.captioners import catalog
from gcap_tf.decoding import decoder
from gcap_tf.text import word_classes
from serving import servables
from tests.export import tiny_runs

MAX_LENGTH = 7

# What TensorFlow Serving's stock binary knows and decoding needs; a new name here is a decision.
_NAMES = """
  Abs Add AddN AddV2 All Any ArgMax Assert AssignVariableOp BatchMatMulV2 BiasAdd BroadcastArgs
  BroadcastTo Cast ClipByValue ConcatV2 Const Cumsum DisableCopyOnRead DivNoNan Einsum EnsureShape
  Equal Exp ExpandDims Fill
  FloorDiv FloorMod GatherNd GatherV2 Greater GreaterEqual HashTableV2 Identity IdentityN If
  InvertPermutation IsFinite Less LessEqual Log LogSoftmax LogicalAnd LogicalNot LogicalOr
  LookupTableFindV2 LookupTableImportV2 MatMul Max Maximum Mean MergeV2Checkpoints Min Minimum Mul
  Neg
  NoOp NotEqual OneHot OnesLike Pack Pad PadV2 PartitionedCall Placeholder Pow Prod Range
  ReadVariableOp RealDiv ReduceJoin Relu Reshape RestoreV2 ReverseV2 Rsqrt SaveV2 ScatterNd Select
  SelectV2 Shape ShardedFilename Sigmoid Sign Slice Softmax
  SparseSoftmaxCrossEntropyWithLogits Split SplitV Sqrt Square SquaredDifference Squeeze
  StatefulPartitionedCall
  StatelessIf StatelessWhile StaticRegexFullMatch StopGradient StridedSlice StringJoin StringStrip
  Sub Sum Tanh TensorListConcatV2 TensorListFromTensor TensorListGetItem TensorListReserve
  TensorListResize TensorListSetItem TensorListStack TensorScatterAdd Tile TopKV2 Transpose Unpack
  VarHandleOp Where VarIsInitializedOp While ZerosLike
"""
CORE_OPERATIONS = frozenset(_NAMES.split())


def make(run, **options):
  return captioner_module.CaptionerModule(
    run.model, run.vocabulary, tiny_runs.THINGS, max_length=MAX_LENGTH, **options
  )


@pytest.fixture(scope="module")
def run(tmp_path_factory):
  return tiny_runs.captioner_run(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def served(run, tmp_path_factory):
  """The signatures of a saved and reloaded module, as NumPy functions."""
  return save_and_load(make(run), tmp_path_factory.mktemp("saved"))


def save_and_load(module, folder, *names):
  """The signatures of these names, or all; tracing each takes seconds."""
  traced = {
    name: tf.function(getattr(module, name), autograph=False).get_concrete_function(
      **module.specs(name)
    )
    for name in names
  }
  tf.saved_model.save(module, str(folder), signatures=traced or module.signatures())
  loaded = tf.saved_model.load(str(folder))

  def call(signature, given):
    tensors = {name: tf.constant(array) for name, array in given.items()}
    return {k: v.numpy() for k, v in loaded.signatures[signature](**tensors).items()}

  call.folder, call.loaded = folder, loaded
  return call


@pytest.mark.parametrize("signature", ["serving_default", "greedy", "beam"])
def test_signature_answers_every_field_with_its_type_and_shape(served, signature):
  answer = served(signature, tiny_runs.regions(3, 4))
  found = {name: (array.dtype.kind, array.shape) for name, array in answer.items()}
  assert found == {
    "caption": ("O", (3,)),
    "words": ("O", (3, MAX_LENGTH)),
    "box_index": ("i", (3, MAX_LENGTH)),
    "grounded": ("b", (3, MAX_LENGTH)),
    "box": ("f", (3, MAX_LENGTH, 4)),
    "attention": ("f", (3, MAX_LENGTH, 4)),
    "log_prob": ("f", (3,)),
    "length": ("i", (3,)),
    "answered": ("b", (3,)),
    "word_score": ("f", (3, MAX_LENGTH)),
    "score": ("f", (3,)),
  }


@pytest.mark.parametrize("method", ["greedy", "beam"])
def test_answer_is_the_captioners_own_decoding(run, served, method):
  given = tiny_runs.regions(6, 4, seed=1)
  mask = np.arange(4) < given["num_regions"][:, None]
  batch = {
    "features": tf.constant(np.where(mask[..., None], given["features"], 0)),
    "boxes": tf.constant(given["boxes"]),
    "region_mask": tf.constant(mask),
    "region_labels": tf.zeros([6, 4], tf.int32),
  }
  config = captioner_module.decodings(run.model, 3, MAX_LENGTH)[method]
  wanted = decoder.decode(run.model, run.model.encode(batch), config)
  answer = served(method, given)
  words = [run.vocabulary.decode(row) for row in wanted["tokens"].numpy()]
  assert [caption.decode() for caption in answer["caption"]] == [" ".join(w) for w in words]
  assert len({caption for caption in answer["caption"]}) > 1, "captions should differ"
  np.testing.assert_array_equal(answer["length"], [len(w) for w in words])
  np.testing.assert_array_equal(answer["box_index"], wanted["box_index"])
  np.testing.assert_allclose(answer["log_prob"], wanted["log_prob"], rtol=1e-5)
  np.testing.assert_allclose(answer["attention"], wanted["attention"][:, :, 0], atol=1e-6)


def test_words_boxes_and_flags_of_an_answer_agree(served):
  given = tiny_runs.regions(8, 5, seed=2)
  answer = served("greedy", given)
  for row in range(8):
    length = answer["length"][row]
    words = [word.decode() for word in answer["words"][row]]
    assert " ".join(words[:length]) == answer["caption"][row].decode()
    assert words[length:] == [""] * (MAX_LENGTH - length)
    for slot, word in enumerate(words):
      index = answer["box_index"][row, slot]
      names_thing = word in ("man", "horse", "dog", "grass")
      assert answer["grounded"][row, slot] == names_thing
      if slot < length:
        assert index == answer["attention"][row, slot].argmax()
        np.testing.assert_array_equal(answer["box"][row, slot], given["boxes"][row, index])
        assert answer["attention"][row, slot].sum() == pytest.approx(1, abs=1e-5)
      else:
        assert index == -1
        assert not answer["box"][row, slot].any()


def same_row(one, one_row, other, other_row, regions):
  for name in captioner_module.OUTPUTS:
    left, right = one[name][one_row], other[name][other_row]
    if name == "attention":
      left, right = left[:, :regions], right[:, :regions]
    if one[name].dtype.kind == "f":
      np.testing.assert_allclose(left, right, atol=1e-5, err_msg=name)
    else:
      np.testing.assert_array_equal(left, right, err_msg=name)


@hypothesis.settings(max_examples=25, deadline=None, derandomize=True)
@hypothesis.given(
  seed=strategies.integers(0, 10_000),
  pictures=strategies.integers(1, 6),
  regions=strategies.integers(1, 6),
  padding=strategies.integers(0, 5),
  junk=strategies.sampled_from([0.0, 1e6, float("nan"), float("inf")]),
  signature=strategies.sampled_from(["greedy", "beam"]),
)
def test_answer_depends_neither_on_the_batch_nor_on_padding(
  served, seed, pictures, regions, padding, junk, signature
):
  given = tiny_runs.regions(pictures, regions, seed=seed)
  together = dict(given)
  for name in ("features", "boxes"):
    extra = np.full((pictures, padding, given[name].shape[2]), junk, np.float32)
    together[name] = np.concatenate([given[name], extra], 1)
    for row, count in enumerate(given["num_regions"]):
      together[name][row, count:] = junk
  batch = served(signature, together)
  for row in range(pictures):
    count = given["num_regions"][row]
    alone = {name: array[row : row + 1] for name, array in given.items()}
    alone = {name: a[:, :count] if a.ndim > 1 else a for name, a in alone.items()}
    same_row(served(signature, alone), 0, batch, row, count)


@pytest.mark.parametrize("signature", ["greedy", "beam"])
@pytest.mark.parametrize("regions", [0, 3])
def test_picture_without_regions_gets_a_caption_that_points_nowhere(served, signature, regions):
  given = tiny_runs.regions(2, regions, seed=3)
  given["num_regions"][:] = 0
  answer = served(signature, given)
  assert answer["attention"].shape == (2, MAX_LENGTH, regions)
  assert (answer["box_index"] == -1).all()
  assert not answer["grounded"].any()
  assert not answer["box"].any()
  assert not answer["attention"].any()
  assert np.isfinite(answer["log_prob"]).all()


@pytest.mark.parametrize("signature", ["greedy", "beam"])
def test_empty_batch_gives_empty_answers(served, signature):
  answer = served(signature, tiny_runs.regions(0, 3))
  assert {name: array.shape[0] for name, array in answer.items()} == dict.fromkeys(answer, 0)


@pytest.mark.parametrize("wrong", [-5, 99])
def test_num_regions_out_of_range_is_clipped(served, wrong):
  given = tiny_runs.regions(1, 3, seed=4)
  clipped = {**given, "num_regions": np.clip([wrong], 0, 3).astype(np.int32)}
  given["num_regions"][:] = wrong
  same_row(served("greedy", given), 0, served("greedy", clipped), 0, 3)


def test_labelled_regions_are_read_as_strings(tmp_path):
  run = tiny_runs.captioner_run(tmp_path, feature_size=0, labelled=True)
  served = save_and_load(make(run), tmp_path / "saved", "greedy")
  given = tiny_runs.regions(4, 3, feature_size=0, labelled=True, seed=5)
  assert set(served.loaded.signatures["greedy"].structured_input_signature[1]) == {
    "boxes",
    "num_regions",
    "labels",
  }
  answer = served("greedy", given)
  ids = [
    [run.vocabulary.label_ids.get(label.decode(), 0) for label in row] for row in given["labels"]
  ]
  batch = {
    "boxes": tf.constant(given["boxes"]),
    "region_mask": tf.sequence_mask(given["num_regions"], 3),
    "region_labels": tf.constant(ids),
  }
  config = captioner_module.decodings(run.model, 3, MAX_LENGTH)["greedy"]
  wanted = decoder.decode(run.model, run.model.encode(batch), config)
  known = np.any((np.array(ids) > 0) & batch["region_mask"].numpy(), 1)
  assert 0 < known.sum() < 4, "the rows should differ"
  np.testing.assert_array_equal(answer["answered"], known)
  np.testing.assert_array_equal(answer["box_index"][known], wanted["box_index"][known])
  np.testing.assert_allclose(answer["log_prob"], wanted["log_prob"], rtol=1e-5)
  assert not answer["words"][~known].any() and (answer["box_index"][~known] == -1).all()
  assert not answer["caption"][~known].any() and not answer["length"][~known].any()
  unknown = np.where((np.array(ids) == 0) & batch["region_mask"].numpy(), given["labels"], b"")
  assert unknown.any() and not unknown.all()
  np.testing.assert_array_equal(answer[captioner_module.UNKNOWN_OUTPUT], unknown)


def test_words_are_not_repeated_if_the_word_classes_are_known(run, tmp_path):
  words = tuple(word for word in run.vocabulary.words if word not in ("", "UNK"))
  classes = word_classes.WordClasses(words, (), words, ())
  served = save_and_load(make(run, classes=classes), tmp_path)
  for signature in ("greedy", "beam"):
    answer = served(signature, tiny_runs.regions(8, 4, seed=3))
    for row in answer["words"]:
      said = [word for word in row.tolist() if word]
      assert len(said) == len(set(said)) and b"UNK" not in said


@pytest.mark.parametrize("name", catalog.CAPTIONERS.names())
def test_every_captioner_exports_core_operations_that_ignore_padding(name, tmp_path):
  served = save_and_load(make(tiny_runs.captioner_run(tmp_path, name=name)), tmp_path / "saved")
  found = servables.operations(servables.read_meta_graph(served.folder))
  assert found <= CORE_OPERATIONS, sorted(found - CORE_OPERATIONS)
  given = tiny_runs.regions(3, 4, seed=7)
  given["num_regions"][:] = [4, 2, 0]
  for signature in ("greedy", "beam"):
    together = served(signature, given)
    for row, count in enumerate(given["num_regions"]):
      alone = {name: array[row : row + 1] for name, array in given.items()}
      alone = {name: a[:, :count] if a.ndim > 1 else a for name, a in alone.items()}
      same_row(served(signature, alone), 0, together, row, count)
    if name == "distributed":
      check_branches(together, given["boxes"])
    else:
      assert set(together) == set(captioner_module.OUTPUTS)


def check_branches(answer, boxes):
  """A word's box encloses the regions of the branches that named it; the first is its index."""
  picks = answer[captioner_module.BRANCH_OUTPUT]  # [B, T, K]
  assert picks.shape == (3, MAX_LENGTH, 4)
  several = 0
  for row, slot in np.ndindex(picks.shape[:2]):
    named = [pick for pick in picks[row, slot] if pick >= 0]
    if not named:
      assert answer["box_index"][row, slot] == -1
      continue
    several += len(set(named)) > 1
    assert answer["box_index"][row, slot] == named[0]
    union = [*boxes[row, named, :2].min(0), *boxes[row, named, 2:].max(0)]
    np.testing.assert_array_equal(answer["box"][row, slot], union)
  assert several, "no word was named by two branches that look elsewhere"


def test_only_the_exported_copies_of_the_weights_are_saved(run, served):
  saved = {tuple(v.shape) for v in served.loaded.weights.stored}
  assert saved == {tuple(v.shape) for v in run.model.variables}
  names = [name for name, _ in tf.train.list_variables(str(served.folder / "variables/variables"))]
  assert sum("weights" in name for name in names) == len(run.model.variables)


def test_half_precision_weights_halve_the_file_and_keep_the_inputs_float32(run, served, tmp_path):
  half = save_and_load(make(run, float16=True), tmp_path, "greedy")
  size = "variables/variables.data-00000-of-00001"
  full_bytes, half_bytes = (
    folder.joinpath(size).stat().st_size for folder in (served.folder, tmp_path)
  )
  assert half_bytes < 0.75 * full_bytes
  answer = half("greedy", tiny_runs.regions(4, 3, seed=6))
  wanted = served("greedy", tiny_runs.regions(4, 3, seed=6))
  np.testing.assert_allclose(answer["attention"][:, 0], wanted["attention"][:, 0], atol=0.05)


def test_branch_picks_are_the_regions_of_the_winning_branches():
  attention = np.array([[[[0.2, 0.8], [0.6, 0.4], [1.0, 0.0]]]], np.float32)
  winners = np.array([[[True, False, True]]])
  picks = captioner_module.branch_picks(tf.constant(attention), tf.constant(winners))
  np.testing.assert_array_equal(picks, [[[1, -1, 0]]])


def video_request(rows, regions, frames, seed=0):
  rng = np.random.default_rng(seed)
  given = tiny_runs.regions(rows, regions, seed=seed)
  return given | {
    "frame": rng.integers(0, 3, (rows, regions)).astype(np.int32),
    "grid_features": rng.normal(size=(rows, frames, 6)).astype(np.float32),
    "num_frames": np.full(rows, frames, np.int32),
    "segment": np.tile(np.array([[1, frames]], np.int32), [rows, 1]),
    "global_feature": rng.normal(size=(rows, 10)).astype(np.float32),
  }


@pytest.mark.parametrize("name", ["gvd", "distributed"])
def test_a_captioner_of_videos_answers_a_box_in_every_frame(tmp_path, name):
  cls = catalog.CAPTIONERS.get(name)
  options = {"embedding_size": 8, "hidden_size": 8, "attention_size": 8, "num_frames": 3}
  options |= {"grid_size": 6, "frame_layers": 2, "segment_size": 4, "global_size": 10}
  model = cls(cls.Config(len(tiny_runs.WORDS), feature_size=tiny_runs.FEATURES, **options))
  vocabulary = tiny_runs.captioner_run(tmp_path).vocabulary
  module = captioner_module.CaptionerModule(
    model, vocabulary, tiny_runs.THINGS, max_length=MAX_LENGTH
  )
  served = save_and_load(module, tmp_path)
  given = video_request(3, 9, 5)
  answer = served("greedy", given)
  assert answer["box_frames"].shape == (3, MAX_LENGTH, 3, 4)
  for row in range(3):
    for slot in range(answer["length"][row]):
      index = answer["box_index"][row, slot]
      frame = given["frame"][row, index]
      if name == "gvd":
        np.testing.assert_allclose(
          answer["box_frames"][row, slot, frame], given["boxes"][row, index], atol=1e-6
        )
    assert not answer["box_frames"][row, answer["length"][row] :].any()
  # Frames after the last one do not matter.
  longer = given | {"grid_features": np.pad(given["grid_features"], [(0, 0), (0, 4), (0, 0)])}
  again = served("greedy", longer)
  np.testing.assert_allclose(again["box_frames"], answer["box_frames"], atol=1e-5)
  empty = {key: value[:0] for key, value in given.items()}
  assert served("beam", empty)["box_frames"].shape == (0, MAX_LENGTH, 3, 4)
