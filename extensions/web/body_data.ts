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

/** Text in the character set that the type or the page itself names; else UTF-8. */
export function bodyText(bytes: Uint8Array, type: string): string {
  const charset = /;\s*charset\s*=\s*"?([\w.:-]{1,40})/i.exec(type)?.[1] ??
    (isHtml(type) ? ownCharset(bytes) : undefined);
  return decoderFor(charset ?? "utf-8").decode(bytes);
}

export const isHtml = (type: string): boolean => /^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(type);

function ownCharset(bytes: Uint8Array): string | undefined {
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, 1024));
  return /<meta[^<>]{0,200}charset\s{0,9}=\s{0,9}["']?([\w.:-]{1,40})/i.exec(head)?.[1];
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
