import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { UsageError } from "../../src/domain/errors.ts";
import { checkImages, readImage } from "../../src/domain/images.ts";

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0]);

function latin1(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}

function refused(source: Uint8Array<ArrayBuffer> | string, expected: RegExp): void {
  assert.throws(
    () => readImage(source, "it"),
    (error) => error instanceof UsageError && expected.test(error.message),
  );
}

Deno.test("readImage() detects the kind by the first bytes", () => {
  const kinds: readonly [Uint8Array<ArrayBuffer>, string][] = [
    [PNG, "image/png"],
    [latin1("\xff\xd8\xff\xe0"), "image/jpeg"],
    [latin1("GIF89a"), "image/gif"],
    [latin1("RIFF\0\0\0\0WEBPVP8 "), "image/webp"],
  ];
  for (const [bytes, mediaType] of kinds) assert.deepEqual(readImage(bytes, "it"), { kind: "bytes", mediaType, bytes });
});

Deno.test("readImage() refuses other files, cut ones and empty ones", () => {
  for (const bytes of [latin1("<svg/>"), latin1("RIFF\0\0\0\0WAVE"), PNG.slice(0, 7), new Uint8Array()]) {
    refused(bytes, /it is not a PNG, JPEG, GIF or WebP image/);
  }
});

Deno.test("readImage() refuses more than 5 MB and names both numbers", () => {
  refused(new Uint8Array(5_000_001), /5000001 bytes, more than the limit of 5000000/);
});

Deno.test("readImage() takes addresses as they are, of http and https only", () => {
  const url = "https://example.org/a.png";
  assert.deepEqual(readImage(url, "it"), { kind: "url", url });
  for (const other of ["file:///etc/passwd", "javascript:1", "ftp://x/y", "nonsense", "data:text/html,<b>"]) {
    refused(other, /neither http, https nor a base64 data URL/);
  }
  refused(`https://example.org/${"a".repeat(5_000)}`, /its address has 5020 characters, more than the limit of 4000/);
});

Deno.test("readImage() reads base64 data URLs by their bytes, whatever type they declare", () => {
  const url = `data:text/html;charset=utf-8;base64,${Buffer.from(PNG).toString("base64")}`;
  assert.deepEqual(readImage(url, "it"), { kind: "bytes", mediaType: "image/png", bytes: PNG });
  refused("data:image/png;base64,AAAA", /it is not a PNG/);
});

Deno.test("checkImages() corrects a kind that does not match the bytes", () => {
  const image = { kind: "bytes", mediaType: "text/html", bytes: PNG } as const;
  assert.deepEqual(checkImages([image]), [{ ...image, mediaType: "image/png" }]);
});

Deno.test("checkImages() refuses the 21st image and an image that no file could have been", () => {
  const image = { kind: "bytes", mediaType: "image/png", bytes: PNG } as const;
  checkImages(Array.from({ length: 20 }, () => image));
  assert.throws(
    () => checkImages(Array.from({ length: 21 }, () => image)),
    /Cannot send 21 images: a request may have at most 20/,
  );
  assert.throws(() => checkImages([image, { kind: "url", url: "file:///x" }]), /Cannot use image 2/);
});
