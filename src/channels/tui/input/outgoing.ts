import type { AskOptions } from "../../../conversation/ask_options.ts";
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
  /** A command made the request from this line, which returns to the input instead of the request. */
  readonly typed?: string;
}

const PLAIN = /^[\p{L}\p{N}_@%+=:,./-]+$/u;

export function typedText({ text, images }: Pick<Outgoing, "text" | "images">): string {
  return Object.entries(images).reduce((typed, [chip, { path }]) => {
    const word = PLAIN.test(path) ? `@${path}` : `@"${path.replace(/["\\]/g, "\\$&")}"`;
    return typed.replaceAll(chip, () => word);
  }, text);
}

export function givenVariables(variables: Outgoing["variables"]): NonNullable<AskOptions["variables"]> {
  return Object.fromEntries(
    Object.entries(variables).map(([name, text]) => [name, {
      label: `${
        name.startsWith("ran_") ? "the output of a command of" : "text pasted by"
      } the user, ${text.length} characters`,
      json: false,
      encoding: "utf-8",
      pieces: ReadableStream.from([new TextEncoder().encode(text)]),
    }]),
  );
}
