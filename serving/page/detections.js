// Detection files as the page reads them: its own form, or COCO's.

const MIN_SCORE = 0.3;

// A detections file -> boxes from 0 to 1, features and labels, or an Error that says what is wrong.
// `picture` ({name, width, height}) is what the user loaded, if anything.
export function readDetections(value, picture = {}) {
  const isCoco = Array.isArray(value) || Array.isArray(value?.annotations);
  const { width, height, regions } = isCoco ? fromCoco(value, picture) : (value ?? {});
  if (!Array.isArray(regions)) {
    throw new Error('The file needs a list "regions", or COCO detections.');
  }
  const wide = width || 1;
  const high = height || 1;
  const boxes = regions.map((region, index) => {
    if (!isBox(region.box)) {
      throw new Error(`Region ${index + 1} needs a "box" of four numbers.`);
    }
    const [x1, y1, x2, y2] = region.box;
    return [x1 / wide, y1 / high, x2 / wide, y2 / high];
  });
  return {
    aspect: wide / high,
    boxes,
    features: regions.map((region) => region.feature),
    labels: regions.map((region) => region.label ?? ''),
  };
}

// COCO's list or object -> the regions of one picture in the page's own form.
// That is the picture that was loaded, by its file name, or else the first.
function fromCoco(value, picture) {
  const images = value.images ?? [];
  const names = new Map((value.categories ?? []).map(({ id, name }) => [id, name]));
  const all = value.annotations ?? value;
  const image = images.find((entry) => entry.file_name && entry.file_name === picture.name)
    ?? images[0] ?? { id: all[0]?.image_id };
  const found = all.filter((row) => row?.image_id === image.id && !(row.score < MIN_SCORE));
  const regions = found.map((row, index) => {
    if (!isBox(row.bbox)) {
      throw new Error(`Detection ${index + 1} needs a "bbox": x, y, width, height.`);
    }
    const label = [row.category, row.label, names.get(row.category_id)]
      .find((name) => typeof name === 'string');
    if (label === undefined) {
      throw new Error(`Detection ${index + 1} needs a "category" or a "label".`);
    }
    const [x, y, width, height] = row.bbox;
    return { box: [x, y, x + width, y + height], label };
  });
  const furthest = (edge) => Math.max(1, ...regions.map(({ box }) => box[edge]));
  return {
    width: image.width || picture.width || furthest(2),
    height: image.height || picture.height || furthest(3),
    regions,
  };
}

function isBox(box) {
  return Array.isArray(box) && box.length === 4 && box.every(Number.isFinite);
}
