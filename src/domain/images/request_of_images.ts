/** The request of a message that has only images. */
const SEE_IMAGES = "See the attached images.";

/** The text of a message as a request: one with images needs none. */
export function requestOfImages(text: string, images: readonly unknown[]): string {
  return text.trim() === "" && images.length > 0 ? SEE_IMAGES : text;
}
