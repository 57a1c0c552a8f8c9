// The annotated picture and the JSON of an answer, to save.

import { COLORS, percent, pointing } from './answer.js';

const WIDEST = 1600;
const MARGIN = 24;

// Returns the answer as JSON for people and programs: words with their boxes, regions, model.
export function toJson(answer, { model, decode, picture, threshold }) {
  const { numbers } = pointing(answer, threshold);
  const round = (x) => Math.round(1e5 * x) / 1e5;
  const { boxes, labels, colours, scores } = answer.regions;
  return {
    picture,
    model,
    decode,
    caption: answer.caption,
    answered: answer.isAnswered,
    log_prob: answer.logProb,
    score: answer.score ?? undefined,
    threshold: answer.hasScores ? threshold : undefined,
    words: answer.words.map((word, slot) => ({
      text: word.text,
      names_a_thing: word.isThing,
      box: numbers[slot] === null ? null : word.box.map(round),
      score: word.score === null ? undefined : round(word.score),
    })),
    regions: boxes.map((box, region) => ({
      box: box.map(round),
      label: labels[region],
      colour: colours?.[region],
      score: scores ? round(scores[region]) : undefined,
    })),
  };
}

// Draws the picture with its boxes and the caption below, and returns it as a PNG blob.
export function toPicture(answer, image, threshold) {
  const { boxes, numbers } = pointing(answer, threshold);
  const { aspect } = answer.regions;
  const width = Math.max(480, Math.min(WIDEST, image?.naturalWidth || 960));
  const height = Math.round(width / aspect);
  const size = Math.max(20, Math.round(width / 36));
  const colors = paletteOf(boxes.length);
  const canvas = document.createElement('canvas');
  const pen = canvas.getContext('2d');
  pen.font = `${size}px Georgia, serif`;
  const lines = wrap(pen, answer.words, width - 2 * MARGIN);
  canvas.width = width;
  canvas.height = height + lines.length * size * 1.6 + 2 * MARGIN;
  pen.fillStyle = '#ffffff';
  pen.fillRect(0, 0, canvas.width, canvas.height);
  if (image?.naturalWidth) {
    pen.drawImage(image, 0, 0, width, height);
  }
  boxes.forEach((entry, number) => {
    drawBox(pen, entry, entry.words.map((slot) => answer.words[slot]), colors[number], width, height);
  });
  pen.font = `${size}px Georgia, serif`;
  lines.forEach((line, row) => {
    for (const { slot, x } of line) {
      const number = numbers[slot];
      pen.fillStyle = number === null ? '#1b1f27' : colors[number];
      const y = height + MARGIN + size + row * size * 1.6;
      pen.fillText(answer.words[slot].text, MARGIN + x, y);
      if (number !== null) {
        pen.fillRect(MARGIN + x, y + size * 0.22, pen.measureText(answer.words[slot].text).width, 3);
      }
    }
  });
  return new Promise((resolve) => { canvas.toBlob(resolve, 'image/png'); });
}

// The colours of boxes on white paper, whatever the theme of the page.
function paletteOf(count) {
  const style = getComputedStyle(document.documentElement);
  return Array.from({ length: count }, (_, number) => style.getPropertyValue(`--p${number % COLORS}`).trim());
}

function wrap(pen, words, room) {
  const gap = pen.measureText(' ').width;
  const lines = [[]];
  let x = 0;
  words.forEach(({ text }, slot) => {
    const wide = pen.measureText(text).width;
    if (x && x + wide > room) {
      lines.push([]);
      x = 0;
    }
    lines.at(-1).push({ slot, x });
    x += wide + gap;
  });
  return lines;
}

function drawBox(pen, { box }, words, color, width, height) {
  const [x1, y1, x2, y2] = box.map((edge, side) => edge * (side % 2 ? height : width));
  const line = Math.max(3, width / 300);
  for (const [style, wide] of [['rgba(255, 255, 255, 0.85)', line + 3], [color, line]]) {
    pen.strokeStyle = style;
    pen.lineWidth = wide;
    pen.strokeRect(x1, y1, x2 - x1, y2 - y1);
  }
  const size = Math.max(14, Math.round(width / 56));
  pen.font = `600 ${size}px system-ui, sans-serif`;
  const [first] = words;
  const score = first.score === null ? '' : ` ${percent(first.score)}`;
  const text = [...new Set(words.map((word) => word.text))].join(', ') + score;
  const wide = pen.measureText(text).width + size;
  const left = Math.max(0, Math.min(x1 - line / 2, width - wide));
  const top = Math.max(0, y1 - size * 1.5);
  pen.fillStyle = color;
  pen.fillRect(left, top, wide, size * 1.5);
  pen.fillStyle = '#ffffff';
  pen.fillText(text, left + size / 2, top + size * 1.1);
}
