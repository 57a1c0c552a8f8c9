// Reads detection files in the page's own format or COCO's.

const MIN_SCORE = 0.3;
const MARGIN = 1e-3; // rounding of a box that touches the edge
const OVERHANG = 0.02; // detectors place boxes a little outside the picture; these are clipped

// Returns boxes from 0 to 1, features and labels of a file, and what was left out of it; throws an
// Error for a wrong file. `picture` ({name, width, height}) is the picture of the user, if any.
export function readDetections(value, picture = {}) {
  const isCoco = Array.isArray(value) || Array.isArray(value?.annotations);
  const { width, height, regions, weak } = isCoco ? fromCoco(value, picture) : (value ?? {});
  if (!Array.isArray(regions)) {
    throw new Error('The file needs a list "regions", or COCO detections.');
  }
  const wide = width || 1;
  const high = height || 1;
  let clipped = 0;
  const boxes = regions.map((region, index) => {
    if (!isBox(region.box)) {
      throw new Error(`Region ${index + 1} needs a "box" of four numbers.`);
    }
    const [x1, y1, x2, y2] = region.box;
    const scaled = [x1 / wide, y1 / high, x2 / wide, y2 / high];
    checkBox(scaled, index + 1, Boolean(width && height));
    const inside = scaled.map((edge) => Math.min(1, Math.max(0, edge)));
    clipped += scaled.some((edge, side) => Math.abs(edge - inside[side]) > MARGIN);
    return inside;
  });
  const labels = regions.map((region, index) => {
    if (!['string', 'undefined'].includes(typeof region.label)) {
      throw new Error(`Region ${index + 1}: "label" must be one string, such as "dog".`);
    }
    return region.label ?? '';
  });
  return {
    aspect: picture.width ? picture.width / picture.height : wide / high,
    boxes,
    features: regions.map((region) => region.feature),
    labels,
    dropped: { weak, clipped, minScore: MIN_SCORE },
  };
}

// Refuses boxes in pixels without a size, boxes outside the picture and inverted ones.
function checkBox([x1, y1, x2, y2], number, isSized) {
  const edges = [x1, y1, x2, y2];
  const furthest = Math.max(...edges.map((edge) => Math.max(-edge, edge - 1)));
  if (furthest > 1 && !isSized) {
    throw new Error(`Region ${number} is in pixels: add the "width" and "height" of the picture.`);
  }
  if (furthest > OVERHANG) {
    throw new Error(`Region ${number} is outside the picture: check the size, and x1, y1, x2, y2.`);
  }
  if (x1 > x2 || y1 > y2) {
    throw new Error(`Region ${number} is inverted: boxes are x1, y1, x2, y2, not x, y, width, height.`);
  }
}

// Converts the regions of one picture from COCO's format to the page's own: those of the loaded
// picture, found by its file name or number, or those of the only picture.
function fromCoco(value, picture) {
  const names = new Map((value.categories ?? []).map(({ id, name }) => [id, name]));
  const all = value.annotations ?? value;
  const image = chosenPicture(value, picture.name);
  const own = all.filter((row) => row?.image_id === image.id);
  const found = own.filter((row) => !(row.score < MIN_SCORE));
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
    weak: own.length - found.length,
  };
}

// Whether a file has detections of the picture with that name.
export function isListed(value, name) {
  return findPicture(value, name) !== undefined;
}

// Returns the entry of `images` for the loaded picture, or for the only one.
function chosenPicture(value, name) {
  const ids = pictureIds(value);
  const id = ids.length > 1 ? findPicture(value, name) : ids[0];
  if (ids.length > 1 && id === undefined) {
    throw new Error(`The file has ${ids.length} pictures: load one of them, by its name or number.`);
  }
  return value.images?.find((entry) => entry.id === id) ?? { id };
}

function pictureIds(value) {
  const rows = value.annotations ?? (Array.isArray(value) ? value : []);
  const listed = (value.images ?? []).map((entry) => entry?.id);
  return [...new Set([...listed, ...rows.map((row) => row?.image_id)])];
}

// Finds the id of a picture by its file name or its number (000000391895.jpg is 391895).
function findPicture(value, name = '') {
  const stem = name.replace(/\.[^.]*$/, '');
  const listed = value.images?.find((entry) => entry.file_name && entry.file_name === name);
  return listed?.id
    ?? pictureIds(value).find((id) => stem && [stem, stem.replace(/^0+/, '')].includes(String(id)));
}

function isBox(box) {
  return Array.isArray(box) && box.length === 4 && box.every(Number.isFinite);
}
