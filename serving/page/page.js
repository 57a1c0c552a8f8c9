// The page: choose a picture, ask the server, draw the answer.

import { readAnswer, readDetections, requestBody } from './answer.js';
import { Drawing } from './drawing.js';

const element = (id) => document.getElementById(id);
const drawing = new Drawing({
  stage: element('stage'),
  overlay: element('overlay'),
  caption: element('caption'),
  looked: element('looked'),
});
const state = {
  model: '',
  takes: new Set(),
  detections: null,
  asked: 0,
  rawAddress: '',
  ownPicture: '',
};

function say(text, isError = false) {
  element('status').textContent = text;
  element('status').classList.toggle('error', isError);
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
  if (!response.ok) {
    throw new Error(value.error ?? `The server answered ${response.status}.`);
  }
  return value;
}

async function learnModel() {
  const { models } = await call('/page/models.json');
  [state.model] = Object.keys(models);
  const { metadata } = await call(`/v1/models/${state.model}/metadata`);
  state.takes = new Set(Object.keys(metadata.signature_def.signature_def.greedy.inputs));
}

async function ask() {
  if (!state.detections) {
    return;
  }
  state.asked += 1;
  const question = state.asked;
  try {
    if (!state.takes.size) {
      await learnModel();
    }
    say('Captioning …');
    const decode = new FormData(element('controls')).get('decode');
    const body = requestBody(state.detections, state.takes, decode);
    const started = performance.now();
    const reply = await call(`/v1/models/${state.model}:predict`, body);
    if (question !== state.asked) {
      return; // a newer question is under way
    }
    const milliseconds = Math.round(performance.now() - started);
    const answer = readAnswer(reply.predictions[0]);
    drawing.show(answer, state.detections);
    showRaw(reply);
    say(answer.words.length ? 'Done.' : 'The model has nothing to say about this picture.');
    element('facts').textContent =
      `${decode}, log-probability ${answer.logProb.toFixed(2)}, ${milliseconds} ms`;
  } catch (error) {
    if (question === state.asked) {
      drawing.clear();
      say(error.message, true);
    }
  }
}

function showRaw(reply) {
  const text = JSON.stringify(reply, null, 1);
  element('raw-text').textContent = text;
  URL.revokeObjectURL(state.rawAddress);
  state.rawAddress = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  element('raw-link').href = state.rawAddress;
}

function showPicture(address, description) {
  const picture = element('picture');
  picture.hidden = !address;
  if (address) {
    picture.src = address;
    picture.alt = description;
  } else {
    picture.removeAttribute('src');
  }
}

function take(detections) {
  state.detections = detections;
  element('stage').style.aspectRatio = detections.aspect;
  element('stage').style.maxWidth = `${65 * detections.aspect}vh`; // picture and caption on one screen
  drawing.clear();
  return ask();
}

async function chooseSample(sample, button) {
  for (const other of element('samples').children) {
    other.setAttribute('aria-pressed', String(other === button));
  }
  try {
    const detections = readDetections(await call(`/samples/${sample.detections}`));
    showPicture(sample.picture ? `/samples/${sample.picture}` : '', sample.title);
    await take(detections);
  } catch (error) {
    say(error.message, true);
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
    button.append(sample.title);
    button.addEventListener('click', () => chooseSample(sample, button));
    list.append(button);
  }
  element('no-samples').hidden = samples.length > 0;
  if (samples.length) {
    await chooseSample(samples[0], list.firstChild);
  } else {
    say('Load a picture and its detections.');
  }
}

element('detections-file').addEventListener('change', async (event) => {
  const [file] = event.target.files;
  if (!file) {
    return;
  }
  try {
    const detections = readDetections(JSON.parse(await file.text()));
    showPicture(state.ownPicture, 'Your picture');
    await take(detections);
  } catch (error) {
    say(`${file.name}: ${error.message}`, true);
  }
});
element('picture-file').addEventListener('change', (event) => {
  const [file] = event.target.files;
  if (file) {
    URL.revokeObjectURL(state.ownPicture);
    state.ownPicture = URL.createObjectURL(file);
    showPicture(state.ownPicture, 'Your picture');
    drawing.clear();
    say('Now load its detections.');
  }
});
for (const id of ['detections-file', 'picture-file']) {
  // A file that was corrected must be readable again, though its name is the same.
  element(id).addEventListener('click', (event) => { event.target.value = ''; });
}
element('controls').addEventListener('submit', (event) => event.preventDefault());
element('controls').addEventListener('change', (event) => {
  if (event.target.name === 'decode' || event.target.id === 'token') {
    ask();
  }
  element('stage').classList.toggle('all', element('all-regions').checked);
});

listSamples().catch((error) => say(error.message, true));
