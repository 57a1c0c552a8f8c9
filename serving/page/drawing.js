// Draws an answer: boxes over the picture, words below it, and the light between them.

import { COLORS, mostLooked } from './answer.js';

const SVG = 'http://www.w3.org/2000/svg';
const HEIGHT = 1000; // of the overlay's view box; its width follows the picture

export class Drawing {
  constructor(elements) {
    this.stage = elements.stage;
    this.overlay = elements.overlay;
    this.caption = elements.caption;
    this.looked = elements.looked;
    this.clear();
  }

  clear() {
    this.overlay.replaceChildren();
    this.caption.replaceChildren();
    this.looked.textContent = '';
    this.stage.classList.remove('dimmed');
    this.heats = [];
    this.boxes = [];
    this.words = [];
  }

  show(answer, detections) {
    this.clear();
    this.answer = answer;
    this.labels = detections.labels;
    this.width = HEIGHT * detections.aspect;
    this.overlay.setAttribute('viewBox', `0 0 ${this.width} ${HEIGHT}`);
    for (const box of detections.boxes) {
      this.overlay.append(this.rectangle(box, 'region'));
      const heat = this.rectangle(box, 'heat');
      this.heats.push(heat);
      this.overlay.append(heat);
    }
    const area = ({ box }) => (box[2] - box[0]) * (box[3] - box[1]);
    this.boxes = answer.boxes.map((entry, number) => this.makeBox(entry, number));
    const order = [...this.boxes.keys()].sort((a, b) => area(answer.boxes[b]) - area(answer.boxes[a]));
    for (const number of order) {
      this.overlay.append(this.boxes[number]); // small boxes last, so that they stay in reach
    }
    this.words = answer.words.map((word, slot) => this.makeWord(word, slot));
    this.words.forEach((button, slot) => this.caption.append(slot ? ' ' : '', button));
  }

  makeBox(entry, number) {
    const group = document.createElementNS(SVG, 'g');
    group.setAttribute('class', `box color${number % COLORS}`);
    group.setAttribute('tabindex', '0');
    group.setAttribute('role', 'button');
    const names = entry.words.map((slot) => this.answer.words[slot].text).join(', ');
    group.setAttribute('aria-label', `Box ${number + 1}: ${names}`);
    group.append(this.rectangle(entry.box, ''), this.mark(entry.box, number + 1));
    this.listen(group, () => this.light([number], entry.words, null));
    return group;
  }

  makeWord(word, slot) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = word.text;
    if (word.number !== null) {
      button.className = `thing color${word.number % COLORS}`;
      const mark = document.createElement('sub');
      mark.textContent = word.number + 1;
      button.append(mark);
      button.setAttribute('aria-label', `${word.text}, box ${word.number + 1}`);
    }
    this.listen(button, () => this.light(word.number === null ? [] : [word.number], [slot], slot));
    return button;
  }

  listen(element, light) {
    for (const event of ['mouseenter', 'focus', 'click']) {
      element.addEventListener(event, light);
    }
    for (const event of ['mouseleave', 'blur']) {
      element.addEventListener(event, () => this.light([], [], null));
    }
  }

  light(numbers, slots, attended) {
    this.boxes.forEach((box, number) => box.classList.toggle('lit', numbers.includes(number)));
    this.words.forEach((word, slot) => word.classList.toggle('lit', slots.includes(slot)));
    this.stage.classList.toggle('dimmed', numbers.length > 0);
    const attention = attended === null ? [] : this.answer.words[attended].attention;
    const most = Math.max(...attention, 1e-9);
    this.heats.forEach((heat, region) => {
      heat.style.fillOpacity = 0.55 * ((attention[region] ?? 0) / most) ** 2;
    });
    this.looked.textContent = attended === null ? '' : this.describe(attended);
  }

  describe(slot) {
    const word = this.answer.words[slot];
    const parts = mostLooked(word.attention).map(({ region, share }) => {
      const label = this.labels[region] ? ` (${this.labels[region]})` : '';
      return `region ${region + 1}${label} ${Math.round(100 * share)} %`;
    });
    return parts.length ? `“${word.text}” looked at ${parts.join(', ')}` : '';
  }

  rectangle(box, name) {
    const element = document.createElementNS(SVG, 'rect');
    const [x1, y1, x2, y2] = this.corners(box);
    element.setAttribute('class', name);
    element.setAttribute('x', x1);
    element.setAttribute('y', y1);
    element.setAttribute('width', Math.max(0, x2 - x1));
    element.setAttribute('height', Math.max(0, y2 - y1));
    return element;
  }

  // The box's number, inside its upper left corner.
  mark(box, number) {
    const element = document.createElementNS(SVG, 'text');
    const [x1, y1] = this.corners(box);
    element.setAttribute('x', x1 + 14);
    element.setAttribute('y', y1 + 50);
    element.textContent = number;
    return element;
  }

  corners(box) {
    const sides = [this.width, HEIGHT, this.width, HEIGHT];
    return box.map((value, index) => sides[index] * Math.min(1, Math.max(0, value)));
  }
}
