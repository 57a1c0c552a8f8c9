// Draws the attention of a word over the picture: light where the word looked, dark elsewhere.

const SIDE = 96; // pixels of the longer side of the map; the browser smooths it when it enlarges it
const DARK = [8, 12, 20];
const WARM = [255, 176, 59];
const DARKEST = 0.78;
const WARMEST = 0.24;

// Paints the canvas with the weights of regions (boxes from 0 to 1).
export function paint(canvas, boxes, weights, aspect) {
  canvas.width = Math.round(aspect >= 1 ? SIDE : SIDE * aspect) || 1;
  canvas.height = Math.round(aspect >= 1 ? SIDE / aspect : SIDE) || 1;
  const { width, height } = canvas;
  const heat = blur(blur(spread(boxes, weights, width, height), width, height), width, height);
  const most = heat.reduce((a, b) => Math.max(a, b), 1e-9);
  const image = new ImageData(width, height);
  heat.forEach((value, index) => {
    image.data.set(color(value / most), 4 * index);
  });
  canvas.getContext('2d').putImageData(image, 0, 0);
}

// Adds up the weights of the regions that cover a pixel; a small region is as strong as a large one.
function spread(boxes, weights, width, height) {
  const heat = new Float32Array(width * height);
  boxes.forEach(([x1, y1, x2, y2], region) => {
    const weight = weights[region] ?? 0;
    const left = Math.max(0, Math.floor(x1 * width));
    const right = Math.min(width, Math.max(left + 1, Math.ceil(x2 * width)));
    const top = Math.max(0, Math.floor(y1 * height));
    const bottom = Math.min(height, Math.max(top + 1, Math.ceil(y2 * height)));
    for (let y = top; weight > 0 && y < bottom; y += 1) {
      for (let x = left; x < right; x += 1) {
        heat[y * width + x] += weight;
      }
    }
  });
  return heat;
}

// Averages every pixel with its neighbours.
function blur(heat, width, height) {
  const reach = 2;
  const result = new Float32Array(heat.length);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      let sum = 0;
      let count = 0;
      for (let v = Math.max(0, y - reach); v <= Math.min(height - 1, y + reach); v += 1) {
        for (let u = Math.max(0, x - reach); u <= Math.min(width - 1, x + reach); u += 1) {
          sum += heat[v * width + u];
          count += 1;
        }
      }
      result[y * width + x] = sum / count;
    }
  }
  return result;
}

// From dark and nearly opaque (0) over clear to a warm light (1).
function color(share) {
  if (share < 0.6) {
    return [...DARK, 255 * DARKEST * (1 - share / 0.6)];
  }
  return [...WARM, 255 * WARMEST * (share - 0.6) / 0.4];
}
