// Where photographs come from: a chosen file, the clipboard, a drop, the camera.

const LONGEST_SIDE = 1600; // of a picture that is encoded again
const MOST_BYTES = 4 << 20; // larger files are encoded again before they are sent
const SENT_AS_THEY_ARE = ['image/jpeg', 'image/png'];

// Returns {address, name, width, height, blob} of a file; throws an Error if it is no picture.
export async function readPicture(blob, name) {
  const address = URL.createObjectURL(blob);
  const image = new Image();
  image.src = address;
  try {
    await image.decode();
  } catch {
    URL.revokeObjectURL(address);
    throw new Error('the browser cannot show this file as a picture.');
  }
  return { address, name, blob, width: image.naturalWidth, height: image.naturalHeight, image };
}

// Returns the base64 of a picture as JPEG or PNG, made smaller if the file is large.
export async function toBase64(picture) {
  picture.base64 ??= await encode(picture);
  return picture.base64;
}

async function encode({ blob, image, width, height }) {
  let sent = blob;
  if (!SENT_AS_THEY_ARE.includes(blob.type) || blob.size > MOST_BYTES) {
    const scale = Math.min(1, LONGEST_SIDE / Math.max(width, height));
    const canvas = document.createElement('canvas');
    canvas.width = Math.max(1, Math.round(width * scale));
    canvas.height = Math.max(1, Math.round(height * scale));
    const pen = canvas.getContext('2d');
    pen.fillStyle = '#ffffff'; // below a transparent picture
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.drawImage(image, 0, 0, canvas.width, canvas.height);
    sent = await new Promise((resolve) => { canvas.toBlob(resolve, 'image/jpeg', 0.92); });
  }
  const reader = new FileReader();
  const read = new Promise((resolve, reject) => {
    reader.onload = resolve;
    reader.onerror = () => reject(new Error('the file cannot be read.'));
  });
  reader.readAsDataURL(sent);
  await read;
  return reader.result.slice(reader.result.indexOf(',') + 1);
}

// Calls `onFiles` with the files that are dropped anywhere; shows `veil` meanwhile.
export function listenForDrops(veil, onFiles) {
  let depth = 0;
  const hasFiles = (event) => event.dataTransfer?.types.includes('Files');
  const count = (change) => (event) => {
    if (hasFiles(event)) {
      event.preventDefault();
      depth = Math.max(0, depth + change);
      veil.hidden = depth === 0;
    }
  };
  window.addEventListener('dragenter', count(1));
  window.addEventListener('dragleave', count(-1));
  window.addEventListener('dragover', (event) => {
    if (hasFiles(event)) {
      event.preventDefault();
    }
  });
  window.addEventListener('drop', (event) => {
    depth = 0;
    veil.hidden = true;
    if (event.dataTransfer?.files.length) {
      event.preventDefault();
      onFiles([...event.dataTransfer.files]);
    }
  });
}

// Calls `onFiles` with pictures that are pasted (Ctrl+V); the button asks for the clipboard.
export function listenForPastes(button, onFiles, onError) {
  window.addEventListener('paste', (event) => {
    const files = [...(event.clipboardData?.files ?? [])];
    if (files.length) {
      event.preventDefault();
      onFiles(files);
    }
  });
  button.addEventListener('click', async () => {
    try {
      const items = await navigator.clipboard.read();
      for (const item of items) {
        const type = item.types.find((kind) => kind.startsWith('image/'));
        if (type) {
          onFiles([new File([await item.getType(type)], 'pasted picture', { type })]);
          return;
        }
      }
      onError('The clipboard holds no picture: copy one first.');
    } catch {
      onError('The browser does not let this page read the clipboard: press Ctrl+V instead.');
    }
  });
}

// Opens a dialog with the camera; calls `onFiles` with the photograph that is taken.
export class Camera {
  constructor({ dialog, view, open, take, close }, onFiles, onError) {
    Object.assign(this, { dialog, view, onFiles, onError });
    open.addEventListener('click', () => this.start());
    take.addEventListener('click', () => this.take());
    close.addEventListener('click', () => dialog.close());
    dialog.addEventListener('close', () => this.stop());
  }

  async start() {
    try {
      const video = { facingMode: 'environment', width: { ideal: 1280 } };
      this.stream = await navigator.mediaDevices.getUserMedia({ video });
    } catch {
      this.onError(window.isSecureContext
        ? 'There is no camera, or this page may not use it.'
        : 'Browsers allow the camera on this machine’s own address or over https only.');
      return;
    }
    this.view.srcObject = this.stream;
    await this.view.play();
    this.dialog.showModal();
  }

  async take() {
    const canvas = document.createElement('canvas');
    canvas.width = this.view.videoWidth;
    canvas.height = this.view.videoHeight;
    canvas.getContext('2d').drawImage(this.view, 0, 0);
    const blob = await new Promise((resolve) => { canvas.toBlob(resolve, 'image/jpeg', 0.92); });
    this.dialog.close();
    this.onFiles([new File([blob], 'photograph of the camera', { type: 'image/jpeg' })]);
  }

  stop() {
    this.stream?.getTracks().forEach((track) => track.stop());
    this.view.srcObject = null;
  }
}
