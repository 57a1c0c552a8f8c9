// Shapes of the overlay, whose view box is 1000 high and as wide as the picture's shape asks.

export const SVG = 'http://www.w3.org/2000/svg';
const TAG = 22; // height of a tag, in screen pixels
const FONTS = { tag: '650 13px system-ui, sans-serif', 'small-tag': '500 12px system-ui, sans-serif' };
const pen = document.createElement('canvas').getContext('2d'); // measures text

function make(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) {
    element.setAttribute(key, value);
  }
  return element;
}

function corners(box, width) {
  const sides = [width, 1000, width, 1000];
  return box.map((value, index) => sides[index] * Math.min(1, Math.max(0, value)));
}

export function rectangle(box, width, name) {
  const [x1, y1, x2, y2] = corners(box, width);
  return make('rect', {
    class: name, x: x1, y: y1, width: Math.max(0, x2 - x1), height: Math.max(0, y2 - y1),
  });
}

// Makes the tag of a box, in pixels from its lower left corner.
export function makeTag(text, name) {
  pen.font = FONTS[name];
  const wide = Math.ceil(14 + pen.measureText(text).width);
  const tag = make('g', { class: name });
  const words = make('text', { x: wide / 2, y: -6.5 });
  words.textContent = text;
  tag.append(make('rect', { y: -TAG, width: wide, height: TAG, rx: 4 }), words);
  tag.wide = wide;
  return tag;
}

// Places tags on top of their boxes, or inside at the upper edge, at a fixed screen size. A tag
// that would cover another one moves down.
export function placeTags(tags, width, stageHeight) {
  const pixel = 1000 / (stageHeight || 1000);
  const taken = [];
  for (const { tag, box, isInside } of tags) {
    const [x1, y1] = corners(box, width);
    const wide = tag.wide * pixel;
    const high = TAG * pixel;
    const x = Math.max(0, Math.min(x1 - pixel, width - wide));
    let y = Math.max(isInside ? y1 + high : y1, high);
    const covers = (other) => x < other.x + other.wide && other.x < x + wide
      && y - high < other.y && other.y - high < y;
    for (let tries = 0; !isInside && tries < 6 && taken.some(covers); tries += 1) {
      y += high;
    }
    if (!isInside) {
      taken.push({ x, y, wide });
    }
    tag.setAttribute('transform', `translate(${x} ${y}) scale(${pixel})`);
  }
}
