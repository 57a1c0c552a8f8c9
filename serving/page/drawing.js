// Draws an answer: boxes on the picture, words below it; highlights words and boxes together.

import { COLORS, isSure, mostLooked, percent, pointing } from './answer.js';
import { paint } from './heat.js';
import { makeTag, placeTags, rectangle, SVG } from './shapes.js';

const STEP = 70; // milliseconds between two words that appear

export class Drawing {
  constructor(panel) {
    const part = (name) => panel.querySelector(`.${name}`);
    [this.stage, this.overlay, this.heatmap] = ['stage', 'overlay', 'heatmap'].map(part);
    [this.caption, this.looked, this.chips] = ['caption', 'looked', 'regions'].map(part);
    this.clear();
    this.onEscape = (event) => {
      if (event.key === 'Escape') {
        this.pin(null);
      }
    };
    document.addEventListener('keydown', this.onEscape);
    this.observer = new ResizeObserver(() => this.place());
    this.observer.observe(this.stage);
    this.caption.addEventListener('keydown', (event) => this.moveBetweenWords(event));
  }

  // Forgets the panel, which is removed from the page.
  close() {
    document.removeEventListener('keydown', this.onEscape);
    this.observer.disconnect();
  }

  clear() {
    for (const part of [this.overlay, this.caption, this.chips]) {
      part.replaceChildren();
    }
    this.looked.textContent = '';
    this.stage.classList.remove('dimmed', 'heated');
    this.answer = null;
    [this.boxes, this.tags, this.words, this.outlines] = [[], [], [], []];
    this.pointed = null; // the choice under the mouse or with the focus
    this.pinned = null; // the clicked choice, which stays highlighted
  }

  // Shows an answer; with `isNew` its words and boxes appear one after the other.
  show(answer, threshold, isNew = true) {
    this.clear();
    this.answer = answer;
    const { boxes, labels, aspect } = answer.regions;
    this.width = 1000 * aspect;
    this.overlay.setAttribute('viewBox', `0 0 ${this.width} 1000`);
    this.outlines = boxes.map((box, region) => this.makeOutline(box, labels[region]));
    this.overlay.append(...this.outlines);
    const { boxes: drawn, numbers } = pointing(answer, threshold);
    this.numbers = numbers;
    this.boxes = drawn.map((entry, number) => this.makeBox(entry, number));
    const area = (number) => {
      const [x1, y1, x2, y2] = drawn[number].box;
      return (x2 - x1) * (y2 - y1);
    };
    const order = [...this.boxes.keys()].sort((a, b) => area(b) - area(a));
    this.overlay.append(...order.map((number) => this.boxes[number])); // small ones can be clicked
    this.words = answer.words.map((word, slot) => this.makeWord(word, slot, numbers[slot], threshold));
    this.words.forEach((button, slot) => this.caption.append(slot ? ' ' : '', button));
    this.chips.append(...boxes.map((_, region) => this.makeChip(region)));
    this.place();
    if (isNew) {
      this.words.forEach((button, slot) => appear(button, slot));
      this.boxes.forEach((box, number) => appear(box, drawn[number].words[0]));
    }
  }

  makeOutline(box, label) {
    const group = document.createElementNS(SVG, 'g');
    group.setAttribute('class', 'region');
    group.append(rectangle(box, this.width, 'outline'));
    if (label) {
      const tag = makeTag(label, 'small-tag');
      group.append(tag);
      this.tags.push({ tag, box, isInside: true });
    }
    return group;
  }

  makeBox(entry, number) {
    const group = document.createElementNS(SVG, 'g');
    group.setAttribute('class', `box color${number % COLORS}`);
    group.setAttribute('tabindex', '0');
    group.setAttribute('role', 'button');
    const names = entry.words.map((slot) => this.answer.words[slot].text).join(', ');
    group.setAttribute('aria-label', `Box ${number + 1}: ${names}`);
    const tag = makeTag([...new Set(names.split(', '))].join(', '), 'tag');
    this.tags.push({ tag, box: entry.box, isInside: false });
    group.append(rectangle(entry.box, this.width, 'halo'), rectangle(entry.box, this.width, 'line'), tag);
    this.addListeners(group, { element: group, numbers: [number], slots: entry.words, attended: null });
    return group;
  }

  makeWord(word, slot, number, threshold) {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(word.text);
    const score = word.score === null ? '' : percent(word.score);
    if (number !== null) {
      button.className = `thing color${number % COLORS}`;
      button.setAttribute('aria-label', `${word.text}, box ${number + 1}${score && `, right with ${score}`}`);
    } else if (word.isThing && !isSure(word, threshold)) {
      button.className = 'unsure';
      button.setAttribute('aria-label', `${word.text}, without a box: it would be right with ${score}`);
    }
    if (word.isThing && score) {
      button.append(makeMeter(word.score, score));
    }
    const numbers = number === null ? [] : [number];
    this.addListeners(button, { element: button, numbers, slots: [slot], attended: slot });
    return button;
  }

  makeChip(region) {
    const { labels, colours, scores } = this.answer.regions;
    const item = document.createElement('li');
    const name = [colours?.[region], labels[region]].filter(Boolean).join(' ');
    item.textContent = name || `region ${region + 1}`;
    if (scores) {
      const score = document.createElement('small');
      score.textContent = ` ${percent(scores[region])}`;
      item.append(score);
    }
    const light = (isOn) => this.outlines[region].classList.toggle('lit', isOn);
    item.tabIndex = 0;
    for (const [event, isOn] of [['mouseenter', true], ['focus', true], ['mouseleave', false], ['blur', false]]) {
      item.addEventListener(event, () => light(isOn));
    }
    return item;
  }

  // A choice lists what to highlight: numbers of boxes, slots of words, slot of the attention.
  addListeners(element, choice) {
    element.setAttribute('aria-pressed', 'false');
    for (const event of ['mouseenter', 'focus']) {
      element.addEventListener(event, () => this.point(choice));
    }
    for (const event of ['mouseleave', 'blur']) {
      element.addEventListener(event, () => this.point(null));
    }
    const press = () => this.pin(this.pinned === choice ? null : choice);
    element.addEventListener('click', press);
    if (element instanceof SVGElement) {
      element.addEventListener('keydown', (event) => {
        if (event.key === 'Enter' || event.key === ' ') {
          event.preventDefault();
          press();
        }
      });
    }
  }

  // The arrow keys go from word to word.
  moveBetweenWords(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const slot = this.words.indexOf(document.activeElement);
    if (step && slot >= 0) {
      event.preventDefault();
      this.words[(slot + step + this.words.length) % this.words.length].focus();
    }
  }

  point(choice) {
    this.pointed = choice;
    this.highlight();
  }

  // Lights one word from outside, or none.
  pointAtWord(slot) {
    const numbers = slot === null || this.numbers[slot] === null ? [] : [this.numbers[slot]];
    this.point(slot === null ? null : { numbers, slots: [slot], attended: slot });
  }

  pin(choice) {
    this.pinned?.element.setAttribute('aria-pressed', 'false');
    choice?.element.setAttribute('aria-pressed', 'true');
    this.pinned = choice;
    this.highlight();
  }

  highlight() {
    const { numbers = [], slots = [], attended = null } = this.pointed ?? this.pinned ?? {};
    this.boxes.forEach((box, number) => box.classList.toggle('lit', numbers.includes(number)));
    this.words.forEach((word, slot) => word.classList.toggle('lit', slots.includes(slot)));
    this.stage.classList.toggle('dimmed', numbers.length > 0 || attended !== null);
    this.stage.classList.toggle('heated', attended !== null);
    if (attended !== null) {
      const { boxes, aspect } = this.answer.regions;
      paint(this.heatmap, boxes, this.answer.words[attended].attention, aspect);
    }
    this.looked.textContent = attended === null ? '' : this.describe(attended);
  }

  describe(slot) {
    const word = this.answer.words[slot];
    const { labels } = this.answer.regions;
    const parts = mostLooked(word.attention).map(({ region, share }) => {
      const label = labels[region] ? ` (${labels[region]})` : '';
      return `region ${region + 1}${label} ${percent(share)}`;
    });
    return parts.length ? `“${word.text}” looked at ${parts.join(', ')}` : '';
  }

  place() {
    placeTags(this.tags, this.width ?? 1000, this.stage.clientHeight);
  }
}

// A bar that is as long as a word is sure, with the number.
function makeMeter(share, text) {
  const meter = document.createElement('span');
  meter.className = 'meter';
  meter.setAttribute('aria-hidden', 'true');
  const bar = document.createElement('i');
  bar.style.width = `${100 * share}%`;
  const number = document.createElement('small');
  number.textContent = text;
  meter.append(bar, number);
  return meter;
}

function appear(element, slot) {
  element.classList.add('appears');
  element.style.animationDelay = `${slot * STEP}ms`;
}
