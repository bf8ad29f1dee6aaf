import { HostCallError } from "../domain/errors.ts";
import { SYSTEM_VARIABLES, type VariableImage } from "../domain/query/variable.ts";
import { summarize } from "../sandbox/child/view/summary.ts";
import { encode } from "../sandbox/codec/codec.ts";
import type { VariableIndex } from "./variable_index.ts";

/** What a child query starts with. */
export interface Fork {
  readonly images: readonly VariableImage[];
  /** Names whose newest stored version is copied unchanged. */
  readonly copies: readonly string[];
}

export interface ForkSource {
  readonly index: VariableIndex;
  /** The value in the running child; rejects for values that the codec does not support. */
  readonly read: (name: string, options: { readonly maxBytes: number }) => Promise<unknown>;
  readonly stored: (name: string) => Promise<VariableImage | null>;
}

const MAX_BYTES = 32 << 20;
const SYSTEM: readonly string[] = SYSTEM_VARIABLES;

/** Data is copied in its current state, including what the running block has just created; functions and classes as
 * they were saved, with their dependencies. */
export async function forkVariables(names: readonly string[], source: ForkSource): Promise<Fork> {
  const images = new Map<string, VariableImage>();
  const copies = new Set<string>();
  const wanted = [...names];
  for (let at = 0; at < wanted.length; at++) {
    const name = wanted[at] ?? "";
    if (images.has(name) || copies.has(name)) continue;
    if (SYSTEM.includes(name)) throw refused(name, "the child has its own");
    const head = source.index.get(name);
    const isCode = head?.kind === "function" || head?.kind === "class" || head?.kind === "instance";
    const image = isCode ? await source.stored(name) : await dataImage(name, source) ?? await source.stored(name);
    if (!image) throw refused(name, "there is no such variable, or it contains something that cannot be copied");
    if (image.kind === "lost" || image.kind === "pending") throw refused(name, image.reason || "it is not there");
    if (image.large !== undefined) copies.add(name);
    else images.set(name, image);
    wanted.push(...image.requires.filter((one) => source.index.get(one) !== undefined));
  }
  return { images: [...images.values()], copies: [...copies] };
}

/** Null if the child does not have it as data. */
async function dataImage(name: string, { read, index }: ForkSource): Promise<VariableImage | null> {
  try {
    const value = await read(name, { maxBytes: MAX_BYTES });
    if (value === undefined) return null;
    const { doc = "", declaration = "const" } = index.get(name)?.summary ?? {};
    const summary = summarize(value, { declaration, doc });
    const bytes = encode(value, { maxBytes: MAX_BYTES * 2 });
    return { name, kind: "data", bytes, root: null, source: "", requires: [], reason: "", summary };
  } catch {
    return null;
  }
}

function refused(name: string, why: string): HostCallError {
  return new HostCallError(`Cannot hand ${name} to a child query: ${why}`, { namespace: "vis", symbol: "runChild" });
}
