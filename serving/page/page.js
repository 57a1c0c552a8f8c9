// The page: the user chooses a picture, the server captions it, the page draws the answer.

import { readAnswer, requestBody } from './answer.js';
import { isListed, readDetections } from './detections.js';
import { Drawing } from './drawing.js';

const element = (id) => document.getElementById(id);
const drawing = new Drawing({
  stage: element('stage'),
  overlay: element('overlay'),
  caption: element('caption'),
  looked: element('looked'),
});
const state = {
  models: [], // {label, path, inputs}: the captioners of the server
  detections: null,
  requests: 0,
  rawAddress: '',
  own: { picture: null, value: null }, // files of the user: {address, name, width, height}, JSON
};

function showStatus(text, kind = '') {
  element('status').textContent = text;
  element('status').className = `status ${kind}`;
}

async function call(path, body) {
  const token = element('token').value;
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const options = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers };
  const response = await fetch(path, options);
  const value = await response.json();
  if (response.status === 401) {
    element('token-field').hidden = false;
    throw new Error('This server asks for a token.');
  }
  if (response.status === 404) {
    state.models = []; // the version may be unloaded: list the models again before the next request
  }
  if (!response.ok) {
    throw new Error(value.error ?? `The server answered ${response.status}.`);
  }
  return value;
}

// Lists the captioners of the server, every loaded version, newest first.
async function listCaptioners() {
  const { models } = await call('/page/models.json');
  const found = [];
  for (const [name, versions] of Object.entries(models)) {
    for (const version of [...versions].reverse()) {
      const isNewest = version === versions.at(-1);
      const numbered = `/v1/models/${name}/versions/${version}`;
      const { metadata } = await call(`${numbered}/metadata`);
      const signature = metadata.signature_def.signature_def.greedy;
      if (signature) {
        found.push({
          label: `${name}, version ${version}`,
          path: isNewest ? `/v1/models/${name}` : numbered, // without a number: always the newest
          inputs: new Set(Object.keys(signature.inputs)),
        });
      }
    }
  }
  if (!found.length) {
    throw new Error('This server has no captioner that answers.');
  }
  const select = element('model');
  const chosen = select.selectedOptions[0]?.text;
  select.replaceChildren(...found.map(({ label }, index) => new Option(label, index)));
  select.selectedIndex = Math.max(0, found.findIndex(({ label }) => label === chosen));
  state.models = found;
}

async function requestCaption() {
  if (!state.detections) {
    return;
  }
  state.requests += 1;
  const request = state.requests;
  try {
    if (!state.models.length) {
      await listCaptioners();
    }
    showStatus('Captioning …');
    const decode = new FormData(element('controls')).get('decode');
    const model = state.models[element('model').value];
    const body = requestBody(state.detections, model.inputs, decode);
    const started = performance.now();
    const reply = await call(`${model.path}:predict`, body);
    if (request !== state.requests) {
      return; // a newer request is running
    }
    const milliseconds = Math.round(performance.now() - started);
    const answer = readAnswer(reply.predictions[0]);
    drawing.show(answer, state.detections);
    showRaw(reply);
    if (answer.words.length) {
      showStatus('Done.', 'sr-only'); // for screen readers only
    } else {
      showStatus('The model wrote no caption for this picture.');
    }
    const logProb = answer.logProb.toFixed(2).replace('-', '−');
    element('facts').textContent =
      `${model.label}, ${decode}, log-probability ${logProb}, ${milliseconds} ms`;
  } catch (error) {
    if (request === state.requests) {
      clearAnswer();
      showStatus(error.message, 'error');
    }
  }
}

function clearAnswer() {
  drawing.clear();
  element('facts').textContent = '';
  element('raw').hidden = true;
}

function showRaw(reply) {
  URL.revokeObjectURL(state.rawAddress);
  const text = JSON.stringify(reply, null, 1);
  state.rawAddress = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  element('raw-link').href = state.rawAddress;
  element('raw-save').href = state.rawAddress;
  element('raw').hidden = false;
}

function showPicture(address, description, aspect) {
  element('stage').style.aspectRatio = aspect;
  element('stage').style.maxWidth = `${65 * aspect}vh`; // picture and caption on one screen
  const picture = element('picture');
  picture.hidden = !address;
  element('stage').classList.toggle('bare', !address); // there are only regions to see
  if (address) {
    picture.src = address;
    picture.alt = description;
  } else {
    picture.removeAttribute('src');
  }
}

function captionRegions(detections) {
  state.detections = detections;
  clearAnswer();
  return requestCaption();
}

function pressSample(button) {
  for (const other of element('samples').children) {
    other.setAttribute('aria-pressed', String(other === button));
  }
}

async function chooseSample(sample, button) {
  pressSample(button);
  try {
    const detections = readDetections(await call(`/samples/${sample.detections}`));
    const address = sample.picture ? `/samples/${sample.picture}` : '';
    showPicture(address, sample.title, detections.aspect);
    await captionRegions(detections);
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
    showStatus('Load a picture and its detections.');
  }
}

async function readPicture(file) {
  const address = URL.createObjectURL(file);
  const picture = new Image();
  picture.src = address;
  try {
    await picture.decode();
  } catch {
    throw new Error('the browser cannot show this file as a picture.');
  }
  return { address, name: file.name, width: picture.naturalWidth, height: picture.naturalHeight };
}

// Shows a picture; captions it at once if the detections loaded before belong to it.
async function loadPicture(file) {
  const { own } = state;
  const before = own.picture;
  own.picture = await readPicture(file);
  if (own.value && (!before || isListed(own.value, own.picture.name))) {
    await captionOwnPicture();
  } else {
    pressSample(null);
    clearAnswer();
    state.requests += 1; // a running request is about another picture
    state.detections = null;
    showPicture(own.picture.address, 'Your picture', own.picture.width / own.picture.height);
    showStatus('Now load its detections.');
  }
  URL.revokeObjectURL(before?.address);
}

async function loadDetections(file) {
  state.own.value = JSON.parse(await file.text());
  await captionOwnPicture();
}

function captionOwnPicture() {
  const { picture, value } = state.own;
  const detections = readDetections(value, picture ?? {});
  pressSample(null);
  showPicture(picture?.address ?? '', 'Your picture', detections.aspect);
  return captionRegions(detections);
}

for (const [id, load] of [['picture-file', loadPicture], ['detections-file', loadDetections]]) {
  element(id).addEventListener('change', async (event) => {
    const [file] = event.target.files;
    try {
      await (file && load(file));
    } catch (error) {
      showStatus(`${file.name}: ${error.message}`, 'error');
    }
  });
  // Makes it possible to load a corrected file of the same name.
  element(id).addEventListener('click', (event) => { event.target.value = ''; });
}
element('controls').addEventListener('submit', (event) => event.preventDefault());
element('controls').addEventListener('change', (event) => {
  if (event.target.name === 'decode' || ['model', 'token'].includes(event.target.id)) {
    requestCaption();
  }
});
element('all-regions').addEventListener('change', (event) => {
  element('stage').classList.toggle('all', event.target.checked);
});

listSamples().catch((error) => showStatus(error.message, 'error'));
