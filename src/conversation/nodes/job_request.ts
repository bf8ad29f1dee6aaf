import { decode, encode } from "../../sandbox/codec/codec.ts";
import type { RunnerOptions } from "../query_runner.ts";

/** A request as it waits for a node: everything that a run needs besides its query. */
export interface JobRequest extends
  Pick<
    RunnerOptions,
    | "read"
    | "images"
    | "instructions"
    | "plan"
    | "responseSchema"
    | "maxIterations"
    | "model"
    | "limits"
    | "label"
    | "retryOf"
    | "requestKey"
    | "askedAs"
  > {
  readonly text: string;
  /** Whether clients answer questions. */
  readonly asks: boolean;
}

export function encodeRequest(text: string, options: Omit<RunnerOptions, "extras">): Uint8Array {
  const { read, images, instructions, plan, responseSchema, maxIterations, model, limits, label } = options;
  const { retryOf, requestKey, askedAs, approve } = options;
  const request: JobRequest = {
    ...{ text, asks: approve !== undefined, read, images, instructions, plan, responseSchema, maxIterations, model },
    ...{ limits, label, retryOf, requestKey, askedAs },
  };
  return encode(request);
}

export function decodeRequest(bytes: Uint8Array<ArrayBuffer>): JobRequest {
  // Only `encodeRequest` makes these bytes.
  return decode(bytes) as JobRequest;
}
