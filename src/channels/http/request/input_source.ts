import type { AskOptions } from "../../../conversation/send_options.ts";

/** Turns a value of a request body into a variable: strings stay as they are, everything else becomes data. */
export function inputSource(label: string, value: unknown): NonNullable<AskOptions["context"]> {
  const json = typeof value !== "string";
  const text = json ? JSON.stringify(value) : value;
  return {
    label: `${label} of the request`,
    json,
    encoding: "utf-8",
    pieces: ReadableStream.from([new TextEncoder().encode(text)]),
  };
}
