// Makes requests to the server and reads its answers.

export const COLORS = 7;

// Returns the body of a :predict call with the inputs of the model.
export function requestBody(detections, inputs, decode) {
  const row = { boxes: detections.boxes, num_regions: detections.boxes.length };
  if (inputs.has('features')) {
    if (detections.features.some((feature) => !Array.isArray(feature))) {
      throw new Error('This model needs a "feature" for every region.');
    }
    row.features = detections.features;
  }
  if (inputs.has('labels')) {
    row.labels = detections.labels;
  }
  return { signature_name: decode, instances: [row] };
}

// Returns the words of a prediction, each with the number of its box, and the distinct boxes.
export function readAnswer(prediction) {
  const numbers = new Map();
  const boxes = [];
  const words = [];
  for (let slot = 0; slot < prediction.length; slot += 1) {
    const box = prediction.box[slot];
    let number = null;
    if (prediction.grounded[slot]) {
      const key = box.join();
      if (!numbers.has(key)) {
        numbers.set(key, boxes.length);
        boxes.push({ box, words: [] });
      }
      number = numbers.get(key);
      boxes[number].words.push(slot);
    }
    words.push({
      text: prediction.words[slot],
      number,
      region: prediction.box_index[slot],
      attention: prediction.attention[slot],
    });
  }
  return { words, boxes, caption: prediction.caption, logProb: prediction.log_prob };
}

// Returns the regions with the most attention of a word: [{region, share}], largest first.
export function mostLooked(attention, count = 3) {
  return attention
    .map((share, region) => ({ region, share }))
    .sort((a, b) => b.share - a.share)
    .slice(0, count)
    .filter(({ share }) => share >= 0.01);
}
