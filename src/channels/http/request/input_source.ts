import type { AskOptions } from "../../../conversation/send_options.ts";

/** A value of a request body that becomes a variable: a text as it is, anything else as data. */
export function inputSource(label: string, value: unknown): NonNullable<AskOptions["context"]> {
  const json = typeof value !== "string";
  const text = json ? JSON.stringify(value) : value;
  return { label: `${label} of the request`, json, pieces: once(text) };
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}
