/** Reads programs of a checkout of test262: files with a YAML header, and helpers in `harness/`. */
import { join } from "node:path";
import type { Program } from "./program.ts";

export interface Header {
  readonly includes: readonly string[];
  readonly flags: readonly string[];
  readonly refusedWith?: string;
}

const HEADER = /\/\*---\r?\n([\s\S]*?)---\*\//;
/** Replaces the harness's own function, whose result no code awaits. */
const DONE = `let $settle;
const $settled = new Promise((settle) => { $settle = settle; });
function $DONE(error) {
  console.log(error ? "failed: " + (error.name ?? error) : "complete");
  $settle();
}
`;
const HOST = `const $262 = {
  global: globalThis,
  gc() {},
  detachArrayBuffer(buffer) { structuredClone(buffer, { transfer: [buffer] }); },
};
`;
const HOST_ONLY = /\$262\s*\.\s*(?:createRealm|evalScript|agent|AbstractModuleSource|IsHTMLDDA)\b/;

/** Returns the keys of a header that matter here; null if the file has none. */
export function headerOf(text: string): Header | null {
  const [, yaml] = HEADER.exec(text) ?? [];
  if (yaml === undefined) return null;
  const [, refusedWith] = /^negative:(?=[^]*?phase:\s*(?:parse|early))[^]*?type:\s*(\w+)/m.exec(yaml) ?? [];
  return {
    includes: listOf(yaml, "includes"),
    flags: listOf(yaml, "flags"),
    ...refusedWith === undefined ? {} : { refusedWith },
  };
}

function listOf(yaml: string, key: string): readonly string[] {
  const inline = new RegExp(`^${key}:\\s*\\[([^\\]]*)\\]`, "m").exec(yaml)?.[1];
  if (inline !== undefined) return inline.split(",").map((one) => one.trim()).filter((one) => one !== "");
  const lines = new RegExp(`^${key}:[^\\S\\n]*\\r?\\n((?:[^\\S\\n]*-[^\\n]*\\n?)+)`, "m").exec(yaml)?.[1] ?? "";
  return [...lines.matchAll(/-\s*(\S+)/g)].map((match) => match[1] ?? "");
}

/** Returns the reason why a file is not run; null if it is run. */
export function skippedFor(text: string, { flags }: Header): string | null {
  if (flags.includes("noStrict") || flags.includes("raw")) return "code that is not strict";
  if (flags.includes("module")) return "modules";
  return HOST_ONLY.test(text) ? "functions of a test host" : null;
}

export class Harness {
  readonly #folder: string;
  readonly #texts = new Map<string, string>();

  constructor(root: string) {
    this.#folder = join(root, "harness");
  }

  /** Returns a test after everything that it needs and, if it is asynchronous, before a wait. */
  program(name: string, text: string, { includes, flags, ...rest }: Header): Program {
    const isAsync = flags.includes("async");
    const helpers = ["assert.js", "sta.js", ...includes].filter((one) => one !== "doneprintHandle.js");
    const before = [...new Set(helpers)].map((one) => this.#read(one)).join("\n");
    const host = /\$262\b/.test(before + text) ? HOST : "";
    const whole = `${host}${isAsync ? DONE : ""}${before}\n${text}${isAsync ? "\nawait $settled;" : ""}`;
    return { name, language: "js", text: whole, ...rest };
  }

  #read(file: string): string {
    const found = this.#texts.get(file) ?? Deno.readTextFileSync(join(this.#folder, file));
    this.#texts.set(file, found);
    return found;
  }
}
