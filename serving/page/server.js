// Talks to the server: lists its captioners, sends requests.

const element = (id) => document.getElementById(id);

// Thrown for a model or version that is not there any more.
export class GoneError extends Error {}

export async function call(path, body) {
  const token = element('token').value;
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const options = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers };
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Error('The server does not answer. Is it still running?');
  }
  const value = await response.json();
  if (response.status === 401) {
    element('token-field').hidden = false;
    throw new Error('This server asks for a token.');
  }
  if (!response.ok) {
    const text = value.error ?? `The server answered ${response.status}.`;
    throw response.status === 404 ? new GoneError(text) : new Error(text);
  }
  return value;
}

// Lists the captioners of the server, every loaded version, newest first:
// {label, name, path, labelsPath, readsPhotographs, inputs}.
export async function listCaptioners() {
  const { models } = await call('/page/models.json');
  const found = [];
  for (const [name, versions] of Object.entries(models)) {
    for (const version of [...versions].reverse()) {
      const isNewest = version === versions.at(-1);
      const numbered = `/v1/models/${name}/versions/${version}`;
      const { metadata } = await call(`${numbered}/metadata`);
      const signatures = metadata.signature_def.signature_def;
      if (signatures.greedy || signatures.caption_image) {
        found.push({
          label: `${name}, version ${version}`,
          path: isNewest ? `/v1/models/${name}` : numbered, // without a number: always the newest
          labelsPath: `/page/labels/${name}/${version}.json`,
          readsPhotographs: Boolean(signatures.caption_image),
          inputs: new Set(Object.keys(signatures.greedy?.inputs ?? {})),
        });
      }
    }
  }
  if (!found.length) {
    throw new Error('This server has no captioner that answers.');
  }
  return found;
}

// Returns the names that a model has a label for (name -> label), or null if that is unknown.
export async function knownLabels(model) {
  if (model.known === undefined) {
    const { names } = await call(model.labelsPath);
    model.known = names && new Map(Object.entries(names));
  }
  return model.known;
}
