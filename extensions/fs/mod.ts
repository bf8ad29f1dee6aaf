import { defineExtension, type EnvironmentView, fn, z } from "@vis/extension";
import { contextOf, type FsContext } from "./context.ts";
import { editFiles, type FileEdit } from "./edit_files.ts";
import { findFiles, type FindOptions } from "./find_files.ts";
import type { GrepOptions } from "./grep.ts";
import { listFiles, type ListOptions } from "./list_files.ts";
import { readFile, type ReadOptions } from "./read_file.ts";
import { readFiles } from "./read_files.ts";
import { ReadLedger } from "./read_ledger.ts";
import type { Edit } from "./replace_text.ts";
import { statPath } from "./stat_path.ts";
import { WriteQueue } from "./write_queue.ts";
import { writeFile } from "./write_file.ts";

const ledger = new ReadLedger();
const queue = new WriteQueue();
const here = (env: EnvironmentView): FsContext => contextOf(env, ledger);

const path = z.string().min(1).describe("path");
const line = z.number().int().min(1).optional();
const flag = z.boolean().optional();
const many = z.union([z.string(), z.array(z.string()).min(1)]);
const Read = z.strictObject({ from: line, to: line, numbers: flag }).optional();
const Find = z.strictObject({ limit: line, all: flag }).optional();
const List = z.strictObject({ depth: line, all: flag }).optional();
const Search = z.strictObject({
  path: many.optional(),
  glob: many.optional(),
  ignoreCase: flag,
  literal: flag,
  context: z.number().int().min(0).max(10).optional(),
  limit: line,
  all: flag,
});
const Change = z.strictObject({ old: z.string(), new: z.string(), all: flag });
const Changes = z.array(z.strictObject({ path: z.string(), ...Change.shape })).min(1);

const PROMPT =
  `Files of cwd, to which paths are relative. Find first (fs.grep, fs.glob), never guess a path. Filter and count in code, return only what you must see:
  (await fs.readFiles("src/**/*.ts")).filter(f => f.text?.includes("TODO")).map(f => f.path)
Ignored files are left out ({all: true} takes them). Read before you write; change with fs.edit.`;

export default defineExtension({
  namespace: "vis.fs",
  alias: { ns: "vis.ext.fs", alias: "fs" },
  doc: "Reads, searches and changes the files of the workspace.",
  group: "workspace",
  subgroup: "files",
  version: "0.1.0",
  author: "Vis",
  license: "Apache-2.0",
  prompt: PROMPT,
  symbols: [
    fn("readFile", (env, name: string, options?: ReadOptions) => readFile(here(env), name, options), {
      doc: "Text up to 1 MB, or lines from..to.",
      args: z.tuple([path, Read]),
      returns: "string",
      examples: ['await fs.readFile("src/app.ts")', 'await fs.readFile("big.log", {from: 1, to: 200, numbers: true})'],
    }),
    fn("readFiles", (env, names: string | string[], options?: ReadOptions) => readFiles(here(env), names, options), {
      doc: "Paths or globs.",
      args: z.tuple([many.describe("paths"), Read]),
      returns: "{path, text?, error?}[]",
      examples: ['await fs.readFiles(["README.md", "src/**/*.ts"])'],
    }),
    fn("glob", (env, patterns: string | string[], options?: FindOptions) => findFiles(here(env), patterns, options), {
      doc: "Paths; !pattern excludes.",
      args: z.tuple([many.describe("patterns"), Find]),
      returns: "string[]",
      examples: ['await fs.glob(["**/*.ts", "!**/*_test.ts"])'],
    }),
    fn("grep", search, {
      doc: "Lines that match an RE2 pattern; past 500, a last one with line 0 says how many.",
      args: z.tuple([z.string().describe("pattern"), z.union([z.string(), Search]).optional().describe("where")]),
      returns: "{path, line, text, before?, after?}[]",
      examples: [
        'await fs.grep("parse_", "src")',
        'await fs.grep("todo|fixme", {glob: "*.ts", ignoreCase: true, context: 2})',
      ],
      before: ({ args }) => ({ args: grepArguments(args) }),
    }),
    fn("listFiles", (env, folder?: string, options?: ListOptions) => listFiles(here(env), folder, options), {
      doc: "Depth 2.",
      args: z.tuple([z.string().describe("folder").optional(), List]),
      returns: '{path, type: "file"|"dir"|"link", size?}[]',
      examples: ['await fs.listFiles("src", {depth: 1})'],
    }),
    fn("edit", edit, {
      doc: "Replaces text that occurs once (or all); all files or none.",
      args: z.tuple([
        z.union([z.string(), Changes]).describe("path"),
        z.union([Change, z.array(Change).min(1)]).optional().describe("edits"),
      ]),
      returns: "{path, bytes, diff}",
      examples: [
        'await fs.edit("src/app.ts", {old: "retries = 3", new: "retries = 5"})',
        'await fs.edit([{path: "a.ts", old: "x", new: "y"}, {path: "b.ts", old: "x", new: "y", all: true}])',
      ],
    }),
    fn("writeFile", (env, name: string, text: string) => queue.run(() => writeFile(here(env), { path: name, text })), {
      doc: "Creates or replaces.",
      args: z.tuple([path, z.string().describe("text")]),
      returns: "{path, bytes, diff}",
      examples: ['await fs.writeFile("notes.md", "# Notes\\n")'],
    }),
    fn("stat", (env, name: string) => statPath(here(env), name), {
      doc: "Null if missing.",
      args: z.tuple([path]),
      returns: "{path, type, size, modified} | null",
      examples: ['await fs.stat("package.json")'],
    }),
  ],
});

/** `fs.edit(path, edits)` answers with one result, `fs.edit([{path, …}])` with one per file. */
async function edit(env: EnvironmentView, where: string | readonly FileEdit[], edits?: Edit | readonly Edit[]) {
  if (typeof where !== "string") {
    if (edits !== undefined) throw new TypeError("Cannot edit: give a path and edits, or one list of {path, old, new}");
    return await queue.run(() => editFiles(here(env), where));
  }
  if (edits === undefined) throw new TypeError(`Cannot edit ${where}: the edits are missing: {old, new}`);
  const list = [edits].flat().map((one) => ({ ...one, path: where }));
  const [written] = await queue.run(() => editFiles(here(env), list));
  return written;
}

/** The linear-time engine is a third of the program's code: it loads with the first search. */
async function search(env: EnvironmentView, pattern: string, options?: GrepOptions): Promise<unknown> {
  const { grep } = await import("./grep.ts");
  return await grep(here(env), pattern, options);
}

/** Models also write `fs.grep(/todo/i, "src", {glob: "*.ts"})`: what is meant is clear, so it is taken. */
function grepArguments(args: readonly unknown[]): unknown[] {
  const [pattern, where, more, ...rest] = args;
  const flags = pattern instanceof RegExp && pattern.ignoreCase ? { ignoreCase: true } : {};
  const place = typeof where === "string" ? { path: where } : Array.isArray(where) ? { path: where } : where ?? {};
  const isPlain = [place, more ?? {}].every((one) => typeof one === "object" && one !== null && !Array.isArray(one));
  if (!isPlain || typeof pattern === "undefined") return [...args];
  return [
    pattern instanceof RegExp ? pattern.source : pattern,
    { ...flags, ...Object(place), ...Object(more ?? {}) },
    ...rest,
  ];
}
