import type { Image } from "../../../domain/images.ts";

export interface AttachedImage {
  readonly path: string;
  readonly image: Image;
}

export interface Outgoing {
  readonly text: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly images: Readonly<Record<string, AttachedImage>>;
  readonly only?: "plan" | "review";
}

const PLAIN = /^[\p{L}\p{N}_@%+=:,./-]+$/u;

export function typedText({ text, images }: Pick<Outgoing, "text" | "images">): string {
  return Object.entries(images).reduce((typed, [chip, { path }]) => {
    const word = PLAIN.test(path) ? `@${path}` : `@"${path.replace(/["\\]/g, "\\$&")}"`;
    return typed.replaceAll(chip, () => word);
  }, text);
}
