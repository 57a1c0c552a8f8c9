// Says what a model was not given and what it does not know, in sentences for people.

import { isSure } from './answer.js';

const SHOWN = 6;

// Finds the names without a label, as the served model does: the whole name, its plain spelling,
// its last word.
export function unknownNames(labels, known) {
  const isKnown = (name) => {
    const plain = name.toLowerCase().replace(/[\s_]+/g, ' ').trim();
    return [name, plain, plain.replace(/^.*[ -]/, '')].some((spelling) => known.has(spelling));
  };
  return labels.filter((name) => name && !isKnown(name));
}

function listed(names) {
  const distinct = [...new Set(names)].map((name) => `“${name}”`);
  const more = distinct.length - SHOWN;
  return distinct.slice(0, SHOWN).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

const counted = (count, noun, plural = `${noun}s`) => `${count} ${count === 1 ? noun : plural}`;

// Returns the sentences about one answer.
// `given`: {detections, source, known, model}; `detections` are the regions that were sent, if any.
export function sentences(answer, given, threshold) {
  const { detections, source, known, model } = given;
  const found = [];
  if (answer.error) {
    found.push(`The server could not read this picture: ${answer.error}.`);
  } else if (!answer.isAnswered) {
    found.push('The model gives no caption: it recognises nothing in this picture that it is sure to know.');
  } else if (!answer.words.length) {
    found.push('The model wrote no caption for this picture.');
  }
  if (source === 'other') {
    found.push(`This model reads labelled boxes, not pixels. It was given the ${
      counted(detections.boxes.length, 'region')} that ${given.finder} found.`);
  } else if (source === 'sent') {
    found.push(...aboutDetections(detections, known, model));
  } else if (given.isIgnoring) {
    found.push('This model finds its regions itself; it did not read your detections.');
  }
  const unsure = answer.words.filter((word) => word.isThing && !isSure(word, threshold));
  if (unsure.length) {
    const names = listed(unsure.map(({ text }) => text));
    found.push(`Not sure enough where ${names} ${unsure.length === 1 ? 'is' : 'are'}, so no box is shown.`);
  }
  return found;
}

function aboutDetections(detections, known, model) {
  const found = [];
  const { dropped = {}, labels, boxes } = detections;
  if (dropped.weak) {
    found.push(`${counted(dropped.weak, 'detection')} with a score below ${dropped.minScore} ${
      dropped.weak === 1 ? 'was' : 'were'} left out.`);
  }
  if (dropped.clipped) {
    found.push(`${counted(dropped.clipped, 'box', 'boxes')} reached outside the picture and ${
      dropped.clipped === 1 ? 'was' : 'were'} clipped to it.`);
  }
  if (!boxes.length) {
    found.push('The model was given no region.');
  }
  if (model.inputs.has('labels')) {
    const unknown = known ? unknownNames(labels, known) : [];
    if (unknown.length) {
      found.push(`The model does not know ${listed(unknown)}: ${
        unknown.length === 1 ? 'that box counts' : 'those boxes count'} as unlabelled.`);
    }
    const nameless = labels.filter((name) => !name).length;
    if (nameless) {
      found.push(`${counted(nameless, 'region')} had no label.`);
    }
    found.push('This model reads boxes and labels only; it does not see the pixels.');
  } else if (labels.some(Boolean)) {
    found.push('This model does not read labels; it was given boxes and features.');
  }
  return found;
}

// Returns what a screen reader says about an answer.
export function spoken(answer, name, threshold) {
  if (!answer.words.length) {
    return `${name}: no caption.`;
  }
  const things = answer.words.filter((word) => word.isThing);
  const sure = things.filter((word) => isSure(word, threshold));
  const score = (word) => (word.score === null ? '' : ` ${Math.round(100 * word.score)} percent`);
  const boxes = sure.map((word) => word.text + score(word)).join(', ');
  return `${name}: ${answer.caption}. ${
    sure.length ? `Words with a box: ${boxes}.` : 'No word has a box.'}`;
}
