// The page: the user chooses a picture, the server captions it, the page shows the answers.

import { percent, photographBody, readAnswer, regionsBody, seenRegions } from './answer.js';
import { isListed, readDetections } from './detections.js';
import { spoken } from './notes.js';
import { Panel } from './panel.js';
import { call, GoneError, knownLabels, listCaptioners } from './server.js';
import { Camera, listenForDrops, listenForPastes, readPicture, toBase64 } from './sources.js';

const element = (id) => document.getElementById(id);
const state = {
  models: [], // the captioners of the server
  picture: null, // {address, name, blob, width, height}
  detections: null, // regions of the picture, from a file
  own: { picture: null, value: null }, // files of the user: a picture, JSON of detections
  seen: new Map(), // model -> regions that it saw in this picture
  requests: 0,
};
const panels = [];

function showStatus(text, kind = '') {
  element('status').textContent = text;
  element('status').className = `status ${kind}`;
  element('status').hidden = !text;
}

const threshold = () => element('threshold').value / 100;
const chosenDecode = () => new FormData(element('controls')).get('decode');

async function listModels() {
  const found = await listCaptioners();
  const first = element('model');
  const second = element('second');
  const options = (none) => [
    ...none, ...found.map(({ label }, index) => new Option(label, index)),
  ];
  const keep = (select, made) => {
    const chosen = select.selectedOptions[0]?.text;
    select.replaceChildren(...made);
    select.selectedIndex = Math.max(0, made.findIndex(({ text }) => text === chosen));
  };
  keep(first, options([]));
  keep(second, options([new Option('no other model', '')]));
  state.models = found;
  element('lead').textContent = found.some((model) => model.readsPhotographs)
    ? 'A photograph in, a sentence out. Every noun points at what it names.'
    : 'Boxes of a detector in, a sentence out. Every noun points at what it names.';
}

function chosenModels() {
  const chosen = [element('model').value, element('second').value].filter((value) => value !== '');
  return chosen.map((index) => state.models[index]);
}

function fitPanels(count) {
  while (panels.length > count) {
    panels.pop().close();
  }
  while (panels.length < count) {
    panels.push(new Panel(element('panel')));
    panels.at(-1).setRegionsShown(element('all-regions').checked);
    element('panels').append(panels.at(-1).root);
  }
  element('panels').classList.toggle('pair', count > 1);
}

// Returns what a model is given of the current picture: {body, regions, given}.
async function makeRequest(model, decode) {
  const { picture, detections, models } = state;
  if (model.readsPhotographs && picture) {
    const body = photographBody(await toBase64(picture), decode);
    return { body, given: { source: 'photograph', model, isIgnoring: Boolean(detections) } };
  }
  if (detections) {
    const known = model.inputs.has('labels') ? await knownLabels(model) : null;
    const body = regionsBody(detections, model.inputs, decode);
    return { body, given: { source: 'sent', detections, model, known } };
  }
  const finder = models.find((other) => other.readsPhotographs);
  if (finder && picture && !model.inputs.has('features')) {
    const seen = await regionsSeen(finder, decode);
    const body = regionsBody(seen, model.inputs, decode);
    return { body, given: { source: 'other', detections: seen, model, finder: finder.label } };
  }
  throw new Error('This model reads boxes of a detector, not photographs: load the detections of '
    + 'this picture under “Boxes of your own detector”.');
}

async function regionsSeen(finder, decode) {
  if (!state.seen.has(finder)) {
    const body = photographBody(await toBase64(state.picture), decode);
    const reply = await call(`${finder.path}:predict`, body);
    state.seen.set(finder, seenRegions(reply.predictions[0]));
  }
  return state.seen.get(finder);
}

async function captionWith(model, panel, request) {
  const decode = chosenDecode();
  panel.setBusy(true);
  try {
    const { body, given } = await makeRequest(model, decode);
    const started = performance.now();
    const reply = await call(`${model.path}:predict`, body);
    if (request !== state.requests) {
      return '';
    }
    const milliseconds = Math.round(performance.now() - started);
    const [prediction] = reply.predictions;
    if (given.source === 'photograph') {
      state.seen.set(model, seenRegions(prediction));
    }
    const answer = readAnswer(prediction, given.detections ?? state.seen.get(model));
    const logProb = answer.logProb.toFixed(2).replace('-', '−');
    const view = { model: model.label, decode, picture: state.picture?.name, threshold: threshold() };
    const hasScore = answer.score !== null && answer.words.some((word) => word.isThing);
    const right = hasScore ? `, ${percent(answer.score)} of its boxes expected right` : '';
    const facts = `${model.label}, ${decode}, log-probability ${logProb}${right}, ${milliseconds} ms`;
    panel.show(answer, given, view, facts, reply);
    element('threshold-field').hidden = !panels.some(({ answer: shown }) => shown?.hasScores);
    return spoken(answer, model.label, threshold());
  } catch (error) {
    if (request !== state.requests) {
      return '';
    }
    if (error instanceof GoneError) {
      state.models = []; // the version may be unloaded: list the models before the next request
    }
    panel.showError(error.message);
    return `${model.label}: ${error.message}`;
  } finally {
    if (request === state.requests) {
      panel.setBusy(false);
    }
  }
}

async function requestCaptions() {
  if (!state.picture && !state.detections) {
    return;
  }
  state.requests += 1;
  const request = state.requests;
  try {
    if (!state.models.length) {
      await listModels();
    }
  } catch (error) {
    showStatus(error.message, 'error');
    return;
  }
  const models = chosenModels();
  fitPanels(models.length);
  showStatus('');
  panels.forEach((panel, index) => {
    panel.clear();
    panel.part('model-name').textContent = models[index].label;
    panel.root.setAttribute('aria-label', models[index].label);
    const size = state.picture && state.picture.width / state.picture.height;
    panel.showPicture(state.picture, size || state.detections.aspect);
  });
  const said = await Promise.all(models.map((model, index) => captionWith(model, panels[index], request)));
  if (request === state.requests) {
    element('announce').textContent = said.join(' ');
  }
}

// Shows another picture, with its detections if there are any.
function show(picture, detections, button = null) {
  for (const other of element('samples').children) {
    other.setAttribute('aria-pressed', String(other === button));
  }
  if (state.picture && state.picture !== picture) {
    URL.revokeObjectURL(state.picture.address);
  }
  Object.assign(state, { picture, detections });
  state.seen.clear();
  return requestCaptions();
}

async function chooseSample(sample, button) {
  try {
    const detections = sample.detections
      ? readDetections(await call(`/samples/${sample.detections}`)) : null;
    let picture = null;
    if (sample.picture) {
      const response = await fetch(`/samples/${sample.picture}`);
      picture = await readPicture(await response.blob(), sample.title);
    }
    state.own = { picture: null, value: null };
    await show(picture, detections, button);
  } catch (error) {
    showStatus(error.message, 'error');
  }
}

async function listSamples() {
  const samples = await call('/samples/samples.json');
  const list = element('samples');
  for (const sample of samples) {
    const button = document.createElement('button');
    button.type = 'button';
    button.setAttribute('aria-pressed', 'false');
    if (sample.picture) {
      const thumbnail = document.createElement('img');
      thumbnail.src = `/samples/${sample.picture}`;
      thumbnail.alt = '';
      thumbnail.loading = 'lazy';
      button.append(thumbnail);
    }
    const title = document.createElement('span');
    title.textContent = button.title = sample.title;
    title.className = sample.picture ? 'sr-only' : '';
    button.append(title);
    button.addEventListener('click', () => chooseSample(sample, button));
    list.append(button);
  }
  element('no-samples').hidden = samples.length > 0;
  if (samples.length) {
    await chooseSample(samples[0], list.firstChild);
  } else {
    await listModels();
    showStatus('');
    fitPanels(1);
    panels[0].invite();
  }
}

// Reads a photograph, or the detections of one. Detections stay if they list the new picture, or if
// they were loaded before any picture.
async function load(file) {
  const { own } = state;
  try {
    if (file.type === 'application/json' || file.name.endsWith('.json')) {
      own.value = JSON.parse(await file.text());
      await show(own.picture, readDetections(own.value, own.picture ?? {}));
      return;
    }
    const isFirst = !own.picture;
    own.picture = await readPicture(file, file.name);
    const belongs = own.value && (isFirst || isListed(own.value, file.name));
    await show(own.picture, belongs ? readDetections(own.value, own.picture) : null);
  } catch (error) {
    showStatus(`${file.name}: ${error.message}`, 'error');
  }
}

const loadFirst = (files) => load(files[0]);
const showError = (text) => showStatus(text, 'error');
listenForDrops(element('drop'), loadFirst);
listenForPastes(element('paste'), loadFirst, showError);
new Camera({
  dialog: element('camera'),
  view: element('camera-view'),
  open: element('camera-open'),
  take: element('camera-take'),
  close: element('camera-close'),
}, loadFirst, showError);
for (const id of ['picture-file', 'detections-file']) {
  element(id).addEventListener('change', (event) => event.target.files.length && load(event.target.files[0]));
  // Makes it possible to load a corrected file of the same name.
  element(id).addEventListener('click', (event) => { event.target.value = ''; });
}
element('controls').addEventListener('submit', (event) => event.preventDefault());
element('controls').addEventListener('change', (event) => {
  if (event.target.name === 'decode' || ['model', 'second', 'token'].includes(event.target.id)) {
    state.seen.clear();
    requestCaptions();
  }
});
element('threshold').addEventListener('input', () => {
  element('threshold-value').textContent = `${element('threshold').value} %`;
  panels.forEach((panel) => panel.setThreshold(threshold()));
});
element('all-regions').addEventListener('change', (event) => {
  panels.forEach((panel) => panel.setRegionsShown(event.target.checked));
});

listSamples().catch((error) => showStatus(error.message, 'error'));
