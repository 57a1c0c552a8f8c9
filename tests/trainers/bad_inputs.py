"""Twenty bad inputs for every command: wrong flags, wrong files, wrong values.

`{x}` in a flag is a path of `make`. Every input must end in one line that starts with "error: ",
without a traceback and without touching what it was given.
"""

import json
import pathlib

import numpy as np

BAD_RUNS = (
  *("--run={missing}", "--run={file}", "--run={empty}", "--run={no_json}", "--run={list_json}"),
  *("--run={no_model}", "--run={wrong_model}", "--run={data}", "--run={deep}", "--run="),
)
BAD_DATA = (
  *("--data={missing}", "--data={file}", "--data={empty}", "--data={no_json}", "--data={run}"),
  *("--data={list_json}", "--data={cut_data}", "--data={deep}", "--data=", "--data={binary}"),
)
BAD_SETS = (
  *("--set=nonsense", "--set=no.such.key=1", "--set=seed=x", "--set=seed=1e999", "--set==1"),
  *("--set=seed=", "--set=seed=[1", "--set=", "--set=seed=nan", "--set=schedule=1"),
)
COMMON = (
  *("--no_such_flag=1", "word", "--verbose=perhaps", "--=1", "-x=1", "--flagfile={missing}"),
)


def replaced(flags: tuple[str, ...], *changes: str) -> list[list[str]]:
  """The flags with some of them replaced by each change, words separated by spaces."""
  found = []
  for change in changes:
    words = change.split(" ")
    names = {word.partition("=")[0] for word in words}
    found.append([*(flag for flag in flags if flag.partition("=")[0] not in names), *words])
  return found


def make(folder: pathlib.Path, data: pathlib.Path, run: pathlib.Path) -> dict[str, str]:
  """Writes bad files; returns the paths of flags."""
  folder.mkdir()
  names = {"data": data, "run": run, "missing": folder / "missing", "out": folder / "out"}

  def put(name: str, content: bytes | str, inner: str = "") -> None:
    path = folder / name / inner if inner else folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    names[name] = folder / name

  put("file", "x")
  put("binary", bytes(range(256)))
  put("empty_file", "")
  (folder / "empty").mkdir()
  names["empty"] = folder / "empty"
  for name, content in (("no_json", "{"), ("list_json", "[1]"), ("deep", "[" * 100_000)):
    for inner in ("config.json", "dataset.json", "store.json"):
      put(name, content, inner)
    put(f"{name}_file", content)
  put("no_model", json.dumps({"kind": "captioner", "model": "updown"}), "config.json")
  wrong = {"kind": "captioner", "model": "x", "model_config": {}, "vocabulary": ""}
  put("wrong_model", json.dumps(wrong), "config.json")
  put("cut_data", (data / "dataset.json").read_bytes()[:-40], "dataset.json")
  put("object_json_file", '{"a": {"b": []}}')
  np.save(folder / "array.npy", np.zeros(3))
  names["npy"] = folder / "array.npy"
  put("not_npz.npz", "PK\x03\x04")
  names["npz"] = folder / "not_npz.npz"
  put("pictures", b"\xff\xd8\xff\xe0 nothing", "a.jpg")
  return {name: str(path) for name, path in names.items()}


def _training(module: str, *more: str) -> list[list[str]]:
  flags = ("--data={data}", "--run={out}", *more)
  places = ("--run={file}", "--run={data}", "--on_nan=x", "--replicas=-1", "--accumulate=0")
  return _of(module, flags, *BAD_DATA[:6], *BAD_SETS[:6], *places)


def _of(module: str, flags: tuple[str, ...], *changes: str) -> list[list[str]]:
  return [[module, *case] for case in replaced(flags, *changes, *COMMON)]


DETECTOR = ("--source={empty}", "--pictures={pictures}")
COMMANDS: dict[str, list[list[str]]] = {
  "prepare_data": _of(
    "trainers.prepare_data",
    ("--dataset=scenes", "--out={out}"),
    *("--dataset=x", "--dataset=coco", "--source={missing}/x --dataset=coco", "--out={file}"),
    *("--out={pictures}", "--regions={missing}", "--regions={file}", "--regions={empty}"),
    *("--shards=0", "--max_images=-1", "--splits=x", "--object_classes={missing}"),
    *("--object_classes={binary}", "--holdout=-1", "--scenes_train=x", "--noisy_level=x"),
    *("--runner=x", "--set=noisy.regions=0", "--set=noisy.regions=x", "--set=x", "--workers=-1"),
 ),
  "extract_regions": _of(
    "trainers.extract_regions",
    ("--pictures={pictures}", "--out={out}"),
    *("--pictures={missing}", "--pictures={empty}", "--pictures=", "--out={file}", "--out={data}"),
    *("--detector={missing}", "--detector={empty}", "--detector={file}", "--detector=keras_hub:"),
    *("--detector=saved_model:{missing}", "--detector=tflite:{file}"),
    "--detector=detections:{file}",
    *("--regions=0", "--regions=x", "--class_names={missing}", "--runner=x", "--min_score=x"),
    *("--cross_fit --pictures={pictures}", "--train_ids={missing}", "--describer={missing}"),
 ),
  "train_detector": _of(
    "trainers.train_detector",
    (*DETECTOR, "--run={out}"),
    *("--source={missing}", "--source={file}", "--pictures={missing}", "--pictures={empty}"),
    *("--run={file}", "--run={data}", "--fold=1", "--fold=4/4", "--fold=x/2", "--backbone=x"),
    *("--backbone_weights={missing}", "--backbone_weights={file}", "--object_classes={missing}"),
    *("--epochs=0", "--epochs=x", "--batch_size=0", "--learning_rate=x", "--proposer={missing}"),
    *("--set=model.size=0", "--set=model.size=x", "--set=x", "--on_nan=x"),
 ),
  "evaluate_detector": _of(
    "trainers.evaluate_detector",
    (*DETECTOR, "--run={missing}"),
    *BAD_RUNS[:9],
    *("--source={missing}", "--source={file}", "--pictures={missing}", "--pictures={file}"),
    *("--split=", "--max_pictures=-1", "--max_pictures=x"),
 ),
  "train_matcher": _training("trainers.train_matcher", "--model=scan"),
  "evaluate_matcher": _of(
    "trainers.evaluate_matcher",
    ("--run={run}", "--data={data}"),
    *BAD_RUNS,
    *BAD_DATA[:6],
    *("--split=x", "--folds=0", "--iou=2", "--precomp={missing}", "--precomp={empty}"),
 ),
  "train_captioner": _training("trainers.train_captioner", "--model=updown"),
  "evaluate_captioner": _of(
    "trainers.evaluate_captioner",
    ("--run={run}", "--data={data}"),
    *BAD_RUNS,
    *BAD_DATA[:6],
    *("--split=x", "--metrics=x", "--beam_size=0", "--decode=x", "--max_length=0"),
 ),
  "finetune_scst": _training("trainers.finetune_scst", "--start={run}"),
  "finetune_contrastive": _training("trainers.finetune_contrastive", "--start={run}"),
  "caption": _of(
    "trainers.caption",
    ("--run={run}", "--labels={object_json_file}"),
    *BAD_RUNS,
    *("--labels={missing}", "--labels={no_json_file}", "--labels={deep_file}", "--labels={binary}"),
    *("--labels={list_json_file}", "--pictures={missing}", "--regions={missing}"),
    *("--regions={empty}", "--image_size=x", "--image_size=0x0", "--min_score=x", "--decode=x"),
 ),
  "calibrate": _of(
    "trainers.calibrate",
    ("--run={run}", "--data={data}"),
    *BAD_RUNS,
    *BAD_DATA,
    *("--split=x", "--unanswered=2"),
 ),
  "score_grounding": _of(
    "trainers.score_grounding",
    ("--predictions={object_json_file}", "--references={object_json_file}"),
    *(
      f"--{name}={{{path}}}"
      for name in ("predictions", "references")
      for path in ("missing", "no_json_file", "list_json_file", "deep_file", "binary", "empty")
   ),
    *("--recall_over=x", "--classes_shown=-1", "--split=x", "--split_ids={missing}"),
 ),
  "reproduce": _of(
    "trainers.reproduce",
    ("--paper=scan", "--data={data}", "--out={out}"),
    *BAD_DATA[:8],
    *("--paper=x", "--scale=x", "--seeds=x", "--rows=x", "--metrics=x", "--search=x"),
    "--out={file}",
 ),
  "human_study": _of(
    "trainers.human_study",
    ("--first={object_json_file}", "--second={object_json_file}", "--data={data}", "--out={out}"),
    *BAD_DATA[:7],
    *("--first={missing}", "--first={no_json_file}", "--second={list_json_file}", "--raters=1"),
    *("--images=-1", "--port=70000", "--split=x", "--out={file}", "--names=One"),
 ),
  "import_checkpoint": _of(
    "trainers.import_checkpoint",
    *[
      (
        *("--family=scan", "--weights={npz}", "--options={object_json_file}"),
        *("--vocab={object_json_file}", "--out={out}"),
      )
    ],
    *(
      f"--{name}={{{path}}}"
      for name in ("weights", "options", "vocab")
      for path in ("missing", "binary", "npy", "list_json_file", "deep_file")
   ),
    *("--family=x", "--out={file}"),
 ),
  "tensorboard": _of(
    "trainers.tensorboard",
    ("--runs={missing}",),
    *("--port=-1", "--port=x", "--port=", "--runs={file}", "--runs={missing}/x", "--runs="),
    *("--bind=256.1.1.1", "--bind=", "--runs={binary}", "--runs={no_json_file}"),
    *("--runs={npy}", "--runs={empty_file}", "--port=1.5", "--port=[]", "--runs={pictures}/a.jpg"),
 ),
  "train_tagger": _of(
    "trainers.train_tagger",
    ("--ewt={empty}", "--out={out}"),
    *("--ewt={missing}", "--ewt={file}", "--ewt={pictures}", "--ewt=", "--out={file}"),
    *("--entities={missing}", "--entities={file}", "--hand_tags={missing}", "--hand_tags={binary}"),
    *("--epochs=0", "--epochs=x", "--width=0", "--width=x", "--depth=0", "--depth=x"),
 ),
  "export_model": _of(
    "export.export_model",
    ("--run={run}", "--out={out}"),
    *BAD_RUNS,
    *("--out={file}", "--version=-1", "--beam_size=0", "--max_length=0"),
    "--object_words={missing}",
 ),
  "pack_run": _of(
    "export.pack_run",
    ("--run={run}", "--out={out}"),
    *BAD_RUNS,
    *("--out={file}", "--out={data}", "--metrics={missing}", "--metrics={binary}"),
    "--start_share=2",
 ),
  "server": _of(
    "serving.server",
    ("--model_base_path={missing}", "--port=0", "--rest_api_port=0"),
    *("--model_base_path={file}", "--model_config_file={missing}", "--model_config_file={binary}"),
    *("--batching_parameters_file={missing}", "--bind=256.1.1.1", "--port=70000", "--port=x"),
    *("--rest_api_port=-2", "--max_in_flight=0", "--max_regions=0", "--default_deadline=0"),
    *("--tls_certificate={file}", "--tls_key={file}", "--token_file={missing}"),
    "--samples={missing}",
    *("--ssl_config_file={binary}", "--monitoring_config_file={binary}", "--drain_seconds=-1"),
  ),
  "client": _of(
    "serving.client",
    ("--detections={object_json_file}", "--server=127.0.0.1:1", "--timeout=0.2"),
    *("--detections={missing}", "--detections={no_json_file}", "--detections={deep_file}"),
    *("--detections={binary}", "--detections={list_json_file}", "--regions={missing}"),
    *("--regions={empty}", "--data={missing}", "--data={file}", "--picture={missing}"),
    "--decode=x",
    *("--threshold=2", "--timeout=0", "--server=nowhere", "--token_file={missing}"),
    *("--tls_ca={missing}", "--pictures={missing}", "--out={missing}/x/y.png"),
  ),
}  # fmt: skip
