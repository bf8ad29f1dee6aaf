import type { Outgoing } from "./outgoing.ts";

const PLAIN = /^[\p{L}\p{N}_@%+=:,./-]+$/u;

/** A message as it can be typed again: each chip is replaced by the path of its image. */
export function typedText({ text, images }: Pick<Outgoing, "text" | "images">): string {
  return Object.entries(images).reduce((typed, [chip, { path }]) => {
    const word = PLAIN.test(path) ? `@${path}` : `@"${path.replace(/["\\]/g, "\\$&")}"`;
    return typed.replaceAll(chip, () => word);
  }, text);
}
