import { signal } from "@preact/signals";
import { say } from "./status.ts";

const MOST = 20;
const MAX_BYTES = 5_000_000;
export const IMAGE_TYPES = "image/png,image/jpeg,image/gif,image/webp";

interface AttachedImage {
  readonly name: string;
  /** A data URL. */
  readonly url: string;
}

/** Images that go with the next request. */
export const attached = signal<readonly AttachedImage[]>([]);

/** Attaches what can be sent and says why the rest cannot. False if none of the files is an image. */
export async function attach(files: readonly File[]): Promise<boolean> {
  const images = files.filter(({ type }) => IMAGE_TYPES.split(",").includes(type));
  for (const image of images) {
    if (image.size > MAX_BYTES) say(`${image.name} is too large: images can have up to 5 MB`, { bad: true });
    else add({ name: image.name, url: await dataUrl(image) });
  }
  return images.length > 0;
}

/** Others may have been attached while this one was read. */
function add(image: AttachedImage): void {
  if (attached.value.length >= MOST) say(`A request can have up to ${MOST} images`, { bad: true });
  else attached.value = [...attached.value, image];
}

export function detach(image: AttachedImage): void {
  attached.value = attached.value.filter((one) => one !== image);
}

async function dataUrl(file: File): Promise<string> {
  const reader = new FileReader();
  const read = new Promise((resolve, reject) => {
    reader.addEventListener("load", resolve);
    reader.addEventListener("error", () => reject(new Error(`Cannot read ${file.name}`)));
  });
  reader.readAsDataURL(file);
  await read;
  return String(reader.result);
}
