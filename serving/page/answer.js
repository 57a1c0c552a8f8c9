// Makes requests to the server and reads its answers.

export const COLORS = 7;

// Returns the body of a :predict call that captions a photograph (base64 of a JPEG or PNG).
export function photographBody(base64, decode) {
  const signature = decode === 'beam' ? 'caption_image_beam' : 'caption_image';
  return { signature_name: signature, instances: [{ image_bytes: { b64: base64 } }] };
}

// Returns the body of a :predict call with the regions that the model reads.
export function regionsBody(detections, inputs, decode) {
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

// Returns the regions that a captioner of photographs saw.
export function seenRegions(prediction) {
  const count = prediction.num_regions;
  const [width, height] = prediction.image_size;
  return {
    aspect: width / height || 1,
    boxes: prediction.region_boxes.slice(0, count),
    labels: prediction.region_labels.slice(0, count),
    colours: prediction.region_colours?.slice(0, count),
    scores: prediction.region_scores.slice(0, count),
    features: [],
  };
}

// Reads one prediction; `regions` are those that were sent, or those that the model saw.
export function readAnswer(prediction, regions) {
  const words = [];
  for (let slot = 0; slot < prediction.length; slot += 1) {
    words.push({
      text: prediction.words[slot],
      isThing: prediction.grounded[slot],
      box: prediction.box[slot],
      score: prediction.word_score ? prediction.word_score[slot] : null,
      attention: prediction.attention[slot],
    });
  }
  return {
    words,
    regions,
    caption: prediction.caption,
    logProb: prediction.log_prob,
    score: prediction.score ?? null,
    isAnswered: prediction.answered ?? true,
    error: prediction.error ?? '',
    hasScores: Boolean(prediction.word_score),
  };
}

// Numbers the boxes that are right with at least `threshold`:
// {boxes: [{box, words}], numbers: the number of each word's box, or null}.
export function pointing(answer, threshold) {
  const seen = new Map();
  const boxes = [];
  const numbers = answer.words.map((word, slot) => {
    if (!word.isThing || !isSure(word, threshold)) {
      return null;
    }
    const key = word.box.join();
    if (!seen.has(key)) {
      seen.set(key, boxes.length);
      boxes.push({ box: word.box, words: [] });
    }
    boxes[seen.get(key)].words.push(slot);
    return seen.get(key);
  });
  return { boxes, numbers };
}

// Whether the box of a word is right with at least `threshold`; true without a score.
export function isSure(word, threshold) {
  return word.score === null || word.score >= threshold;
}

// Returns the regions with the most attention of a word: [{region, share}], largest first.
export function mostLooked(attention, count = 3) {
  return attention
    .map((share, region) => ({ region, share }))
    .sort((a, b) => b.share - a.share)
    .slice(0, count)
    .filter(({ share }) => share >= 0.01);
}

export const percent = (share) => `${Math.round(100 * share)} %`;
