import { intrinsics } from "../../codec/intrinsics.ts";
import { captured } from "../realm/captured.ts";
import type { ChildAccess } from "../setup.ts";
import type { OutsideWork } from "./outside_work.ts";

const { open, readDir, readFile, readTextFile, writeFile, writeTextFile } = Deno;
const clone = globalThis.structuredClone.bind(globalThis);
const NativeDate = Date;
type Plain = Record<string, unknown>;

export function realmFiles(work: OutsideWork, { globals, workspace, env }: ChildAccess): Plain {
  const full = (path: unknown): string => {
    if (typeof path !== "string") {
      throw new captured.TypeError(`Cannot open a file: its path must be a string, and is of the type ${typeof path}`);
    }
    return path[0] === "/" ? path : `${workspace}/${path}`;
  };
  const once = (verb: string, path: unknown, begin: (path: string) => Promise<unknown>): Promise<unknown> => {
    const real = full(path);
    return work.start({ what: `${verb} ${real}`, begin: () => begin(real) }).done;
  };
  const all: Plain = {
    readTextFile: (path: unknown) => once("read", path, (real) => readTextFile(real)),
    readFile: (path: unknown) => once("read", path, (real) => readFile(real)),
    readDir: (path: unknown) => listing(once("list", path, list)),
    stat: (path: unknown) => once("look at", path, look),
    writeTextFile: (path: unknown, text: unknown, options?: unknown) => {
      if (typeof text !== "string") {
        throw new captured.TypeError(
          `Cannot write a file: its text must be a string, and is of the type ${typeof text}`,
        );
      }
      const how = writeOptions(options);
      return once("write", path, (real) => writeTextFile(real, text, how));
    },
    writeFile: (path: unknown, bytes: unknown, options?: unknown) => {
      const copy: unknown = clone(bytes);
      if (!isBytes(copy)) {
        throw new captured.TypeError(
          `Cannot write a file: its content must be a Uint8Array, and is of the type ${typeof copy}`,
        );
      }
      const how = writeOptions(options);
      return once("write", path, (real) => writeFile(real, copy, how));
    },
  };
  const given: Plain = Object.create(null);
  for (const name of globals) {
    const key = name.slice("Deno.".length);
    if (key in all) given[key] = captured.freeze(all[key]);
  }
  if (globals.includes("Deno.env.get")) given["env"] = environment(env);
  return captured.freeze(given);
}

function isBytes(value: unknown): value is Uint8Array<ArrayBuffer> {
  return typeof value === "object" && value !== null && intrinsics.viewTag(value) === "Uint8Array";
}

function environment(env: ChildAccess["env"]): Plain {
  const values: Record<string, string | null> = Object.create(null);
  for (const { name, value } of env) values[name] = value;
  const get = (name: unknown): string | undefined => {
    if (typeof name !== "string" || !(name in values)) {
      throw new captured.TypeError(
        typeof name === "string"
          ? `Cannot read the environment variable ${name}: the sandbox has no grant for it`
          : `Cannot read the environment: the name must be a string, and is of the type ${typeof name}`,
      );
    }
    return values[name] ?? undefined;
  };
  return captured.freeze(Object.assign(Object.create(null), { get: captured.freeze(get) }));
}

function writeOptions(options: unknown): Deno.WriteFileOptions {
  const flag = (key: string): boolean =>
    typeof options === "object" && options !== null &&
    captured.getOwnPropertyDescriptor(options, key)?.value === true;
  return { append: flag("append"), createNew: flag("createNew") };
}

/** The system call filter allows no stat by path, so this function uses a descriptor. */
async function look(path: string): Promise<Plain> {
  const file = await open(path, { read: true });
  try {
    const { isFile, isDirectory, size, mtime } = await file.stat();
    return { isFile, isDirectory, isSymlink: false, size, mtime: mtime ? new NativeDate(mtime) : null };
  } finally {
    file.close();
  }
}

interface Entry {
  readonly name: string;
  readonly isFile: boolean;
  readonly isDirectory: boolean;
  readonly isSymlink: boolean;
  readonly next: Entry | null;
}

/** A block may have replaced the methods of Array, so the entries form a linked list. */
async function list(path: string): Promise<Entry | null> {
  const entries = readDir(path)[Symbol.asyncIterator]();
  const nextEntry = captured.getOwnPropertyDescriptor(entries, "next")?.value ?? NEXT;
  let first: Entry | null = null;
  for (;;) {
    const step: IteratorResult<Deno.DirEntry> = await captured.apply(nextEntry, entries, []);
    if (step.done) return first;
    const { name, isFile, isDirectory, isSymlink } = step.value;
    first = { name, isFile, isDirectory, isSymlink, next: first };
  }
}

/** A block can replace `next` of asynchronous generators, so this module captures it first. */
const NEXT: ((this: unknown) => Promise<IteratorResult<Deno.DirEntry>>) | undefined = captured.getPrototypeOf(
  async function* () {}.prototype,
)?.next;

function listing(entries: Promise<unknown>): Plain {
  async function* walk(): AsyncGenerator<unknown> {
    const names = await entries as Entry | null;
    for (let entry = names; entry; entry = entry.next) {
      const { name, isFile, isDirectory, isSymlink } = entry;
      yield { name, isFile, isDirectory, isSymlink };
    }
  }
  void captured.apply(captured.then, entries, [undefined, () => {}]); // The iterating code receives the error.
  return captured.freeze({ __proto__: null, [Symbol.asyncIterator]: walk });
}
