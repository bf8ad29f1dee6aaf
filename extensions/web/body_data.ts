import { JsonTooLarge, readForeignJson } from "@vis/extension";
import type { Body } from "./read_body.ts";

/** A result of a call has room for so many. */
const LIMITS = { values: 400_000, depth: 500 };

export type BodyKind = "text" | "json" | "bytes";

/** A body as data: parsed `json` if its type says so and it is complete, text in its character set, other types as
 * bytes. */
export function bodyData(
  { bytes, truncated }: Body,
  { type, as }: { readonly type: string; readonly as: BodyKind | undefined },
): { readonly text: string } | { readonly json: unknown } | { readonly bytes: Uint8Array } {
  const wanted = as ?? kindOf(type, bytes);
  if (wanted === "bytes") return { bytes };
  const text = bodyText(bytes, type);
  if (wanted === "text" || truncated) return { text };
  try {
    return { json: readForeignJson(text, LIMITS) };
  } catch (error) {
    if (error instanceof JsonTooLarge) {
      throw new RangeError(`Cannot parse the answer as JSON: ${error.what}; {as: "text"} gives its text`);
    }
    return { text };
  }
}

/** Text in the character set that its first bytes, the type or the text itself names; else UTF-8. */
export function bodyText(bytes: Uint8Array, type: string): string {
  const charset = markedCharset(bytes) ?? /;\s*charset\s*=\s*"?([\w.:-]{1,40})/i.exec(type)?.[1] ??
    ownCharset(bytes, type);
  return decoderFor(charset ?? "utf-8").decode(bytes);
}

/** A byte order mark says more than any name does. */
export function markedCharset([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  return first === 0xef && second === 0xbb && third === 0xbf ? "utf-8" : undefined;
}

export const isHtml = (type: string): boolean => /^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(type);

function ownCharset(bytes: Uint8Array, type: string): string | undefined {
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, 1024));
  const xml = /^<\?xml[^<>]{0,200}\sencoding\s{0,9}=\s{0,9}["']([\w.:-]{1,40})/.exec(head)?.[1];
  const meta = /<meta[^<>]{0,200}charset\s{0,9}=\s{0,9}["']?([\w.:-]{1,40})/i.exec(head)?.[1];
  const named = xml ?? (isHtml(type) ? meta : undefined);
  return named !== undefined && /^utf-?16/i.test(named) ? undefined : named; // or it could not be read here
}

function decoderFor(label: string): TextDecoder {
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder();
  }
}

function kindOf(type: string, bytes: Uint8Array): BodyKind {
  const [name = ""] = type.toLowerCase().split(";");
  const plain = name.trim();
  if (/^application\/(?:json|[\w.+-]{1,80}\+json)$/.test(plain) || plain === "text/json") return "json";
  if (
    /^text\/|\+xml$|^application\/(?:xml|xhtml|javascript|ecmascript|x-javascript|yaml|x-yaml|toml|sql|graphql)/.test(
      plain,
    )
  ) {
    return "text";
  }
  if (/^application\/(?:x-www-form-urlencoded|x-ndjson|jsonl|x-sh)/.test(plain)) return "text";
  return plain === "" && !bytes.subarray(0, 8000).includes(0) ? "text" : "bytes";
}
