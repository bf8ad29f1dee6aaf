import { encode } from "../../codec/codec.ts";
import type { Bytes } from "../../protocol.ts";
import type { Ending, RunRequest } from "./blocks.ts";
import { imageParts } from "../variables/image_parts.ts";
import { summarize } from "../view/summary.ts";
import type { ThrownError } from "../errors/thrown_error.ts";
import type { BlockParts } from "./parts.ts";

const MAX_VALUE_BYTES = 1 << 20;

export interface Finished {
  readonly run: RunRequest;
  readonly ending: Ending;
  /** Text of the value; "" if there is none. */
  readonly preview: string;
  readonly error: ThrownError | null;
  readonly ms: number;
  /** Called when the variables of the block are known, before the notes are taken. */
  readonly noteVariables: () => void;
}

/** Sends the block's variables and result, in frames that fit the wire's limits. */
export function sendReport(parts: BlockParts, { run, ending, preview, error, ms, noteVariables }: Finished): void {
  const { pipe, compiler, output, notes, variables, isQuiet } = parts;
  const { id, block } = run;
  const dropped = output.end();
  const { saved, touched, pending, lost } = variables.afterBlock(block, { ok: error === null });
  noteVariables();
  const hasValue = ending.outcome === "value";
  const shown = hasValue ? summarize(ending.value, { declaration: "", doc: "" }) : null;
  const images = imageParts(saved);
  for (let i = 0; i < images.length - 1; i++) {
    pipe.send({ t: "done", id, more: true, error: null, rests: false }, encode(images[i]));
  }
  const payload = encode({
    saved: images[images.length - 1],
    outcome: ending.outcome,
    preview,
    type: shown?.type ?? "",
    size: shown?.size ?? null,
    dropped,
    ms,
    defined: block.defined,
    touched,
    pending,
    lost,
    repaired: block.repaired,
    reads: block.reads,
    madeFrom: block.madeFrom,
    literal: block.literal,
    notes: notes.take(),
    value: hasValue ? valueBytes(ending.value) : null,
  });
  const described = error === null ? null : compiler.describe(error);
  pipe.send({ t: "done", id, more: false, error: described, rests: isQuiet() }, payload);
}

/** Null if the value is too large or the codec does not support it. */
function valueBytes(value: unknown): Bytes | null {
  try {
    return encode(value, { maxBytes: MAX_VALUE_BYTES });
  } catch {
    return null;
  }
}
