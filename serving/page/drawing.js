// Draws an answer: boxes on the picture, words below it; highlights words and boxes together.

import { COLORS, mostLooked } from './answer.js';

const SVG = 'http://www.w3.org/2000/svg';
const HEIGHT = 1000; // height of the overlay's view box; its width depends on the picture
const TAG = 22; // height of a box's number, in screen pixels

export class Drawing {
  constructor(elements) {
    this.stage = elements.stage;
    this.overlay = elements.overlay;
    this.caption = elements.caption;
    this.looked = elements.looked;
    this.clear();
    document.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') {
        this.pin(null);
      }
    });
    new ResizeObserver(() => this.placeTags()).observe(this.stage);
  }

  clear() {
    this.overlay.replaceChildren();
    this.caption.replaceChildren();
    this.looked.textContent = '';
    this.stage.classList.remove('dimmed', 'shaded');
    this.heats = [];
    this.boxes = [];
    this.tags = [];
    this.words = [];
    this.pointed = null; // the choice under the mouse or with the focus
    this.pinned = null; // the clicked choice, which stays highlighted
  }

  show(answer, detections) {
    this.clear();
    this.answer = answer;
    this.labels = detections.labels;
    this.width = HEIGHT * detections.aspect;
    this.overlay.setAttribute('viewBox', `0 0 ${this.width} ${HEIGHT}`);
    this.overlay.append(...this.makeShade(detections.boxes));
    for (const box of detections.boxes) {
      this.overlay.append(this.rectangle(box, 'region'));
    }
    const area = ({ box }) => (box[2] - box[0]) * (box[3] - box[1]);
    this.boxes = answer.boxes.map((entry, number) => this.makeBox(entry, number));
    const order = [...this.boxes.keys()].sort((a, b) => area(answer.boxes[b]) - area(answer.boxes[a]));
    for (const number of order) {
      this.overlay.append(this.boxes[number]); // small boxes last, so that they can be clicked
    }
    this.placeTags();
    this.words = answer.words.map((word, slot) => this.makeWord(word, slot));
    this.words.forEach((button, slot) => this.caption.append(slot ? ' ' : '', button));
  }

  // A dark layer over the picture; its mask leaves the attended regions bright.
  makeShade(boxes) {
    const everything = [0, 0, 1, 1];
    const mask = document.createElementNS(SVG, 'mask');
    mask.id = 'attention-mask';
    mask.append(this.rectangle(everything, 'cover'));
    this.heats = boxes.map((box) => this.rectangle(box, 'heat'));
    mask.append(...this.heats);
    const shade = this.rectangle(everything, 'shade');
    shade.setAttribute('mask', `url(#${mask.id})`);
    return [mask, shade];
  }

  makeBox(entry, number) {
    const group = document.createElementNS(SVG, 'g');
    group.setAttribute('class', `box color${number % COLORS}`);
    group.setAttribute('tabindex', '0');
    group.setAttribute('role', 'button');
    const names = entry.words.map((slot) => this.answer.words[slot].text).join(', ');
    group.setAttribute('aria-label', `Box ${number + 1}: ${names}`);
    group.append(this.rectangle(entry.box, ''), this.mark(entry.box, number + 1));
    this.addListeners(group, { element: group, numbers: [number], slots: entry.words, attended: null });
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
    const numbers = word.number === null ? [] : [word.number];
    this.addListeners(button, { element: button, numbers, slots: [slot], attended: slot });
    return button;
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

  point(choice) {
    this.pointed = choice;
    this.highlight();
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
    this.stage.classList.toggle('shaded', attended !== null);
    const attention = attended === null ? [] : this.answer.words[attended].attention;
    const most = Math.max(...attention, 1e-9);
    this.heats.forEach((heat, region) => {
      heat.style.fillOpacity = (attention[region] ?? 0) / most;
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

  // Makes the number tag of a box, in pixels from its lower left corner.
  mark(box, number) {
    const tag = document.createElementNS(SVG, 'g');
    tag.setAttribute('class', 'tag');
    const back = document.createElementNS(SVG, 'rect');
    const text = document.createElementNS(SVG, 'text');
    const wide = 12 + 9 * String(number).length;
    for (const [name, value] of Object.entries({ y: -TAG, width: wide, height: TAG, rx: 3 })) {
      back.setAttribute(name, value);
    }
    text.setAttribute('x', wide / 2);
    text.setAttribute('y', -6);
    text.textContent = number;
    tag.append(back, text);
    this.tags.push({ tag, corner: this.corners(box), wide });
    return tag;
  }

  // Places tags on top of their boxes, or inside at the upper edge, at a fixed screen size.
  placeTags() {
    const pixel = HEIGHT / (this.stage.clientHeight || HEIGHT);
    for (const { tag, corner: [x1, y1], wide } of this.tags) {
      const x = Math.max(0, Math.min(x1 - pixel, this.width - wide * pixel));
      const y = Math.max(y1, TAG * pixel);
      tag.setAttribute('transform', `translate(${x} ${y}) scale(${pixel})`);
    }
  }

  corners(box) {
    const sides = [this.width, HEIGHT, this.width, HEIGHT];
    return box.map((value, index) => sides[index] * Math.min(1, Math.max(0, value)));
  }
}
