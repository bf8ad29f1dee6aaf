/** The media type of an image, detected from its first bytes: PNG, JPEG, GIF or WebP, which all image models accept.
 * Null for anything else. */
export function imageMediaType(bytes: Uint8Array): string | null {
  const begins = (text: string, at = 0): boolean =>
    bytes.length >= at + text.length && Array.from(text).every((char, i) => bytes[at + i] === char.charCodeAt(0));
  if (begins("\x89PNG\r\n\x1a\n")) return "image/png";
  if (begins("\xff\xd8\xff")) return "image/jpeg";
  if (begins("GIF87a") || begins("GIF89a")) return "image/gif";
  if (begins("RIFF") && begins("WEBP", 8)) return "image/webp";
  return null;
}
