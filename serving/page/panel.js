// The result of one model: picture, caption, notes, and links that save them.

import { Drawing } from './drawing.js';
import { sentences } from './notes.js';
import { toJson, toPicture } from './saving.js';

const WALK = 900; // milliseconds that a word is lit while walking through the caption

export class Panel {
  constructor(template) {
    this.root = template.content.firstElementChild.cloneNode(true);
    this.drawing = new Drawing(this.root);
    this.addresses = {};
    this.part('walk').addEventListener('click', () => this.walk());
    this.clear();
  }

  part(name) {
    return this.root.querySelector(`.${name}`);
  }

  close() {
    this.clear();
    this.drawing.close();
    this.root.remove();
  }

  clear() {
    this.stopWalking();
    this.drawing.clear();
    this.part('notes').replaceChildren();
    this.part('facts').textContent = '';
    this.part('actions').hidden = true;
    this.answer = null;
  }

  setBusy(isBusy) {
    this.part('busy').hidden = !isBusy;
  }

  // Asks for a photograph.
  invite() {
    this.part('stage').classList.add('empty');
    this.part('invitation').hidden = false;
  }

  showPicture(picture, aspect) {
    this.part('stage').classList.remove('empty');
    this.part('invitation').hidden = true;
    const image = this.part('picture');
    this.part('stage').style.aspectRatio = aspect;
    this.part('stage').style.setProperty('--aspect', aspect);
    this.part('stage').classList.toggle('bare', !picture);
    image.hidden = !picture;
    if (picture && image.src !== picture.address) {
      image.src = picture.address;
      image.alt = picture.name;
    }
  }

  // `given` says what the model was given; see notes.js.
  show(answer, given, view, facts, reply) {
    Object.assign(this, { answer, given, view });
    this.part('facts').textContent = facts;
    this.drawing.show(answer, view.threshold);
    this.part('walk').disabled = !answer.words.length;
    this.part('actions').hidden = false;
    this.setAddress('raw', reply);
    this.showNotes();
  }

  showError(message) {
    this.clear();
    this.addNote(message, 'error');
  }

  // Shows the same answer with another threshold.
  setThreshold(threshold) {
    if (this.answer) {
      this.view = { ...this.view, threshold };
      this.drawing.show(this.answer, threshold, false);
      this.showNotes();
    }
  }

  setRegionsShown(isShown) {
    this.part('stage').classList.toggle('all', isShown);
    this.part('regions').hidden = !isShown;
  }

  showNotes() {
    this.part('notes').replaceChildren();
    for (const sentence of sentences(this.answer, this.given, this.view.threshold)) {
      this.addNote(sentence);
    }
    this.renewLinks();
  }

  addNote(sentence, kind = '') {
    const item = document.createElement('li');
    item.textContent = sentence;
    item.className = kind;
    this.part('notes').append(item);
  }

  async renewLinks() {
    const { answer, view } = this;
    this.setAddress('save-json', toJson(answer, view));
    const drawn = await toPicture(answer, this.part('picture'), view.threshold);
    if (drawn && answer === this.answer && view === this.view) {
      this.setAddress('save-picture', drawn);
    }
  }

  // Points a link at a blob, or at a value as JSON.
  setAddress(name, value) {
    URL.revokeObjectURL(this.addresses[name]);
    const blob = value instanceof Blob
      ? value : new Blob([JSON.stringify(value, null, 1)], { type: 'application/json' });
    this.addresses[name] = URL.createObjectURL(blob);
    this.part(name).href = this.addresses[name];
  }

  // Lights the words one after the other; pressed again, stops.
  walk() {
    if (this.walking) {
      this.stopWalking();
      return;
    }
    this.part('walk').setAttribute('aria-pressed', 'true');
    let slot = 0;
    const step = () => {
      if (!this.answer || slot >= this.answer.words.length) {
        this.stopWalking();
        return;
      }
      this.drawing.pointAtWord(slot);
      slot += 1;
    };
    step();
    this.walking = setInterval(step, WALK);
  }

  stopWalking() {
    clearInterval(this.walking);
    if (this.walking) {
      this.drawing.pointAtWord(null);
    }
    this.walking = null;
    this.part('walk').setAttribute('aria-pressed', 'false');
  }
}
