import { relative } from "node:path";
import { editFiles, type EditOptions, type FileEdit, writeFile, type WriteOptions } from "./change/edit_files.ts";
import { movePath, type RemoveOptions, removePath } from "./change/move_path.ts";
import type { UndoOptions } from "./change/undo_changes.ts";
import type { FsContext } from "./context.ts";
import { findFiles, type FindOptions, listFiles, type ListFilesOptions, statPath } from "./find_files.ts";
import { FsPlaces } from "./fs_places.ts";
import type { TextReplacement } from "./patch/replace_text.ts";
import { readFile, type ReadFileOptions, readFiles } from "./read/read_file.ts";
import { readLines, type ReadLinesOptions } from "./read/read_lines.ts";
import type { CountOptions, GrepOptions } from "./search/grep.ts";
import { UNDO_ARGUMENTS, undoCli } from "./undo_cli.ts";
import { workspaceFacts } from "./workspace_facts.ts";
import {
  advised,
  type CallOutcome,
  counted,
  defineExtension,
  type EnvironmentView,
  fn,
  someOf,
  z,
} from "@vis/extension";

const places = new FsPlaces();

const READ_ROOM = 32 << 20, CHANGE_ROOM = 96 << 20;

const path = z.string().min(1).describe("path");
const line = z.number().int().min(1).optional();
const flag = z.boolean().optional();
const many = z.union([z.string(), z.array(z.string()).min(1)]);
const encoding = z.string().min(1).optional();
const Read = z.strictObject({ from: line, to: line, numbers: flag, encoding })
  .meta({ tsType: "{from?, to?, numbers?, encoding?}" }).optional();
const Write = z.strictObject({ encoding, eol: z.enum(["lf", "crlf"]).optional() })
  .meta({ tsType: "{encoding?, eol?}" }).optional();
const Find = z.strictObject({ limit: line, all: flag }).optional();
const List = z.strictObject({ depth: line, all: flag }).optional();
const Place = { path: many.optional(), glob: many.optional(), ignoreCase: flag, literal: flag };
const Search = z.strictObject({
  ...Place,
  context: z.number().int().min(0).optional(),
  limit: line,
  all: flag,
});
const Count = Search.omit({ limit: true });
const Lines = z.strictObject({ at: z.number().int().min(0).optional(), count: line, encoding }).optional();
const Change = z.strictObject({ old: z.string(), new: z.string(), all: flag });
const Changes = z.array(z.strictObject({ path: z.string(), ...Change.shape })).min(1);

const PATH = { file: "path", filename: "path", fileName: "path", filePath: "path", file_path: "path", name: "path" };
const TEXT = { content: "text", contents: "text", data: "text" };
const TYPE = {
  ...{ isFile: 'type === "file"', isDirectory: 'type === "dir"', isDir: 'type === "dir"', kind: "type" },
  ...{ isSymlink: 'type === "link"', isSymbolicLink: 'type === "link"' },
};
const CHANGED = { ok: "diff", success: "diff", changed: "diff", patch: "diff" };

const READING = ["readFile", "readFiles", "glob", "grep", "count", "listFiles", "stat", "definition", "readLines"];

const FILES = "Files of cwd", ASKS = ", whose changes ask the user";
const FIND = "Find first (fs.grep, fs.glob, fs.definition), never guess a path. {all: true} takes ignored files.";

export default defineExtension({
  namespace: "vis.fs",
  alias: { ns: "vis.ext.fs", alias: "fs" },
  doc: "Reads, searches and changes the files of the workspace.",
  group: "workspace",
  subgroup: "files",
  version: "0.1.0",
  author: "Vis",
  license: "Apache-2.0",
  prompt: ({ workspace, root, isRootOpen = false, readFolders }: EnvironmentView) => {
    const around = root === undefined ? "" : `, and of its repository up to ${relative(workspace, root)}/`;
    const files = `${FILES}${around}${around === "" || isRootOpen ? "" : ASKS}${added(readFolders, ASKS)}`;
    return told(workspace, `${files}. ${FIND} Read before you write; change with fs.edit.`);
  },
  readOnly: {
    symbols: READING,
    prompt: ({ workspace, readFolders }: EnvironmentView) =>
      told(workspace, `${FILES}${added(readFolders)}; nothing can be written. ${FIND}`),
  },
  example: {
    thinking: "Need the call sites.",
    code: 'const sites = await fs.count("parse_", "src")\nsites',
    timeMs: 3000,
    answer: "{{sites}} call sites",
  },
  shown: 8,
  symbols: [
    fn(
      "readFile",
      async (env, name: string, options?: ReadFileOptions) => readFile(await places.of(env), name, options),
      {
        doc: "Text up to 1 MiB, or lines from..to.",
        insteadOf: [
          ...["read_file", "view_file", "open_file", "view", "read", "cat", "open", "file_read"],
          ...["fs.readFileSync", "fs.promises.readFile", "fs.createReadStream", "readFileSync"],
          ...["Deno.readTextFile", "Deno.readTextFileSync", "Deno.readFile", "fs", "fs/promises", "fs-extra"],
        ],
        untimed: true,
        action: { doing: "reading", done: "read", things: "files" },
        args: z.tuple([path, Read]),
        returns: "string",
        examples: [
          'await fs.readFile("src/app.ts")',
          'await fs.readFile("big.log", {from: 1, to: 200, numbers: true})',
          'await fs.readFile("old.txt", {encoding: "windows-1252"})',
        ],
      },
    ),
    fn(
      "readFiles",
      async (env, names: string | string[], options?: ReadFileOptions) =>
        readFiles(await places.of(env), names, options),
      {
        doc: "Paths or globs.",
        room: READ_ROOM,
        untimed: true,
        action: { doing: "reading", done: "read", things: "lists of files" },
        outcome: foundAs("file"),
        args: z.tuple([many.describe("paths"), Read]),
        misnamed: { ...PATH, ...TEXT, ok: "error === undefined" },
        returns: "{path, text?, error?}[]",
        examples: ['await fs.readFiles(["README.md", "src/**/*.ts"])'],
      },
    ),
    fn(
      "glob",
      async (env, patterns: string | string[], options?: FindOptions) =>
        findFiles(await places.of(env), patterns, options),
      {
        doc: "Paths; !pattern excludes.",
        insteadOf: ["glob", "file_search", "find_files", "find_file", "glob_search", "find_by_name"],
        action: { doing: "listing", done: "listed", things: "patterns" },
        outcome: foundAs("file"),
        args: z.tuple([many.describe("patterns"), Find]),
        returns: "string[]",
        examples: ['await fs.glob(["**/*.ts", "!**/*_test.ts"])'],
      },
    ),
    fn("grep", search, {
      doc: "Lines that match RE2; over 500 need limit.",
      insteadOf: ["grep", "rg", "grep_search", "search_files", "search_code", "codebase_search", "code_search"],
      action: { doing: "searching for", done: "searched for", things: "patterns" },
      outcome: foundAs("match"),
      args: z.tuple([z.string().describe("pattern"), z.union([z.string(), Search]).optional().describe("where")]),
      misnamed: { ...PATH, ...TEXT, lineNumber: "line", line_number: "line", lineNo: "line", match: "text" },
      returns: "{path, line, text, cut?, before?, after?}[]",
      examples: [
        'await fs.grep("parse_", "src")',
        'await fs.grep("todo|fixme", {glob: "*.ts", ignoreCase: true, context: 2})',
      ],
      before: ({ args }) => ({ args: grepArguments(args) }),
    }),
    fn("count", count, {
      doc: "Counts lines (.*: all).",
      action: { doing: "counting", done: "counted", things: "patterns" },
      outcome: String,
      args: z.tuple([
        z.string().describe("pattern"),
        z.union([z.string(), Count]).meta({ tsType: "as for grep, no limit" }).optional().describe(
          "where",
        ),
      ]),
      returns: "number",
      examples: ['await fs.count("parse_", "src")', 'await fs.count(".*", "big.csv")'],
      before: ({ args }) => ({ args: grepArguments(args) }),
    }),
    fn(
      "listFiles",
      async (env, folder?: string, options?: ListFilesOptions) => listFiles(await places.of(env), folder, options),
      {
        doc: "Depth 2.",
        insteadOf: [
          ...["ls", "list_dir", "list_directory", "tree", "readdir", "readdirSync", "fs.readdirSync", "fs.readdir"],
          ...["Deno.readDir", "Deno.readDirSync", "os.listdir"],
        ],
        action: { doing: "listing", done: "listed", things: "folders" },
        outcome: foundAs("entry"),
        args: z.tuple([z.string().describe("folder").optional(), List]),
        misnamed: { ...PATH, ...TYPE, bytes: "size" },
        returns: '{path, type: "file"|"dir"|"link", size?}[]',
        examples: ['await fs.listFiles("src", {depth: 1})'],
      },
    ),
    fn("edit", edit, {
      doc: "Replaces text that occurs once (or all); all files or none.",
      insteadOf: [
        ...["edit", "edit_file", "multi_edit", "str_replace", "str_replace_editor", "str_replace_based_edit_tool"],
        ...["replace_in_file", "search_replace", "replace"],
      ],
      usage: "await fs.edit(path, {old, new})",
      room: CHANGE_ROOM,
      untimed: true,
      action: { doing: "editing", done: "edited", things: "files" },
      outcome: pathsOf,
      args: z.tuple([
        z.union([z.string(), Changes]).describe("path"),
        z.union([Change, z.array(Change).min(1).meta({ tsType: "…[]" })]).optional().describe("edits"),
        z.strictObject({ encoding }).meta({ tsType: "{encoding?}" }).optional(),
      ]),
      misnamed: { ...PATH, ...CHANGED, size: "bytes" },
      returns: "{path, bytes, diff}",
      before: ({ args }) => ({ args: editArguments(args) }),
      examples: [
        'await fs.edit("src/app.ts", {old: "retries = 3", new: "retries = 5"})',
        'await fs.edit([{path: "a.ts", old: "x", new: "y"}, {path: "b.ts", old: "x", new: "y", all: true}])',
      ],
    }),
    fn(
      "writeFile",
      (env, name: string, text: string, options?: WriteOptions) =>
        places.change(env, (at) => writeFile(at, { path: name, text, options })),
      {
        doc: "Creates or replaces.",
        insteadOf: [
          ...["write_file", "write", "create_file", "write_to_file", "save_file", "writeFileSync"],
          ...["fs.writeFileSync", "fs.promises.writeFile", "Deno.writeTextFile", "Deno.writeTextFileSync"],
        ],
        room: CHANGE_ROOM,
        untimed: true,
        action: { doing: "writing", done: "wrote", things: "files" },
        args: z.tuple([path, z.string().describe("text"), Write]),
        misnamed: { ...PATH, ...CHANGED, size: "bytes" },
        returns: "{path, bytes, diff}",
        examples: [
          'await fs.writeFile("notes.md", "# Notes\\n")',
          'await fs.writeFile("run.sh", "echo 1\\n", {encoding: "utf-8", eol: "lf"})',
        ],
      },
    ),
    fn("patch", (env, text: string) => places.change(env, (at) => patch(at, text)), {
      doc: "Applies a unified diff or search/replace blocks to several files, all or none.",
      insteadOf: ["apply_patch", "apply_diff"],
      room: CHANGE_ROOM,
      untimed: true,
      action: { doing: "patching files", done: "patched", things: "files", named: 0 },
      outcome: pathsOf,
      args: z.tuple([z.string().min(1).describe("patch")]),
      misnamed: { ...PATH, ...CHANGED },
      returns: "{path, bytes, diff}[]",
      examples: [
        'await fs.patch("--- a/x.ts\\n+++ b/x.ts\\n@@ -1 +1 @@\\n-old\\n+new\\n")',
        'await fs.patch("x.ts\\n<<<<<<< SEARCH\\nold\\n=======\\nnew\\n>>>>>>> REPLACE\\n")',
      ],
    }),
    fn("move", (env, from: string, to: string) => places.change(env, (at) => movePath(at, { from, to })), {
      doc: "Renames a file or folder, never over another.",
      insteadOf: ["fs.renameSync", "fs.rename", "Deno.rename", "Deno.renameSync", "rename_file", "move_file"],
      room: CHANGE_ROOM,
      untimed: true,
      action: { doing: "moving", done: "moved", things: "files", named: 2 },
      outcome: ({ from, to }) => ({ text: "", subject: `${from} → ${to}` }),
      args: z.tuple([z.string().min(1).describe("from"), z.string().min(1).describe("to")]),
      misnamed: { ...CHANGED, path: "from or to", source: "from", destination: "to" },
      returns: "{from, to, files, diff}",
      examples: ['await fs.move("src/a.ts", "src/b.ts")'],
    }),
    fn(
      "remove",
      (env, name: string, options?: RemoveOptions) => places.change(env, (at) => removePath(at, name, options)),
      {
        doc: "Removes a file, link or folder.",
        insteadOf: [
          "delete_file",
          "fs.unlinkSync",
          "fs.rmSync",
          "fs.unlink",
          "fs.rm",
          "Deno.remove",
          "Deno.removeSync",
        ],
        room: CHANGE_ROOM,
        untimed: true,
        action: { doing: "removing", done: "removed", things: "files" },
        args: z.tuple([path, z.strictObject({ recursive: flag }).optional()]),
        misnamed: { ...PATH, ...CHANGED },
        returns: "{path, files, diff}",
        examples: ['await fs.remove("old", {recursive: true})'],
      },
    ),
    fn("undo", (env, options?: UndoOptions) => places.change(env, (at) => undo(at, options)), {
      doc:
        "Undoes your last file change or the last {steps}, those of commands too, except in files that others changed since; redo reapplies it.",
      room: CHANGE_ROOM,
      untimed: true,
      action: { doing: "undoing file changes", done: "restored", things: "files", named: 0 },
      outcome: undoneOf,
      args: z.tuple([z.strictObject({ steps: line, redo: flag }).optional()]),
      returns: "{path, bytes?, diff?, kept?}[]",
      examples: ["await fs.undo({steps: 2})"],
    }),
    fn("stat", async (env, name: string) => statPath(await places.of(env), name), {
      doc: "Null if missing.",
      insteadOf: ["existsSync", "fs.existsSync", "fs.exists", "fs.statSync", "Deno.stat", "Deno.lstat"],
      action: { doing: "checking", done: "checked", things: "files" },
      args: z.tuple([path]),
      misnamed: {
        ...{ ...PATH, ...TYPE, bytes: "size", length: "size" },
        ...{
          mtime: "modified",
          mtimeMs: "modified",
          modifiedAt: "modified",
          exists: "the result: null if nothing is there",
        },
      },
      returns: "{path, type, size, modified} | null",
      examples: ['await fs.stat("package.json")'],
    }),
    fn(
      "definition",
      async (env, name: string, sought: string | number) => definition(await places.of(env), name, sought),
      {
        doc: "The whole function or class of a name or Owner.name, or around a line.",
        action: { doing: "reading", done: "read", things: "files" },
        args: z.tuple([path, z.union([z.string().min(1), z.number().int().min(1)]).describe("nameOrLine")]),
        misnamed: { ...PATH, ...TEXT, code: "text", body: "text", line: "from", start: "from", end: "to" },
        returns: "{path, from, to, text, others?}",
        examples: ['(await fs.definition("src/app.ts", "startServer")).text'],
      },
    ),
    fn(
      "readLines",
      async (env, name: string, options?: ReadLinesOptions) => readLines(await places.of(env), name, options),
      {
        doc: "Lines of a file of any size, up to 10000 or count from byte at, then from next until it is null.",
        untimed: true,
        action: { doing: "reading", done: "read", things: "files" },
        args: z.tuple([path, Lines]),
        misnamed: { text: "lines", content: "lines", done: "next === null", eof: "next === null" },
        returns: "{lines: string[], next: number | null}",
        examples: [
          'await fs.readLines("big.log", {at: 0, count: 1000})',
        ],
      },
    ),
  ],
  watchFiles: (env, options) => places.watch(env, options),
  namedFile: async (env, path, options) =>
    await (await import("./read/named_file.ts")).namedFile(await places.of(env), path, options),
  cli: [{
    name: "undo",
    doc: "Undo file changes, and print the result as JSON.",
    args: UNDO_ARGUMENTS,
    run: (args: z.infer<typeof UNDO_ARGUMENTS>, context) => undoCli(args, { ...context, places }),
  }],
});

const MAX_FOLDERS = 10;

function added(folders: readonly string[] = [], asks = ""): string {
  return folders.length === 0 ? "" : `, and of ${someOf(folders, MAX_FOLDERS)}${asks}`;
}

async function told(workspace: string, rules: string): Promise<string> {
  return `${rules}\n${await workspaceFacts(workspace)}`.trim();
}

async function edit(
  env: EnvironmentView,
  where: string | readonly FileEdit[],
  edits?: TextReplacement | readonly TextReplacement[],
  options?: EditOptions,
) {
  if (typeof where !== "string") {
    if (edits !== undefined) {
      throw advised(
        new TypeError("Cannot edit the files: the first argument is already a list of {path, old, new}"),
        "omit the second argument",
      );
    }
    return await places.change(env, (at) => editFiles(at, where, options));
  }
  if (edits === undefined) {
    throw advised(new TypeError(`Cannot edit ${where}: the edits are missing`), "pass {old, new}");
  }
  const list = [edits].flat().map((one) => ({ ...one, path: where }));
  const [written] = await places.change(env, (at) => editFiles(at, list, options));
  return written;
}

const EDIT_KEYS: Readonly<Record<string, string>> = {
  old_string: "old",
  oldString: "old",
  old_str: "old",
  old_text: "old",
  oldText: "old",
  search: "old",
  new_string: "new",
  newString: "new",
  new_str: "new",
  new_text: "new",
  newText: "new",
  replace: "new",
  replace_all: "all",
  replaceAll: "all",
  file_path: "path",
  filePath: "path",
};

/** Models write the arguments of other tools: `fs.edit(path, {old_string, new_string})`, `fs.edit(path, old, new)`,
 * `fs.edit({path, edits: […]})`. */
function editArguments(args: readonly unknown[]): unknown[] {
  const [where, old, now, ...rest] = args;
  if (typeof where === "string" && typeof old === "string" && typeof now === "string") {
    return [where, { old, new: now, ...Object(renamed(rest[0] ?? {})) }, ...rest.slice(1)];
  }
  const edits = renamed(old);
  if (isObject(where)) {
    const { edits: list, ...one } = renamed(where);
    const all = Array.isArray(list) ? list.map((edit) => ({ ...one, ...Object(renamed(edit)) })) : [one];
    return [list === undefined || Array.isArray(list) ? all : [where], ...args.slice(1)];
  }
  if (isObject(edits) && Array.isArray(edits.edits) && Object.keys(edits).length === 1) {
    return [where, edits.edits.map(renamed), ...args.slice(2)];
  }
  return args.length < 2 ? args.map(renamed) : [renamed(where), edits, ...args.slice(2)];
}

function renamed<Value>(value: Value): Value;
function renamed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one: unknown) => renamed(one));
  if (!isObject(value)) return value;
  const pairs = Object.entries(value).map(([key, one]) => [EDIT_KEYS[key] ?? key, one] as const);
  return new Set(pairs.map(([key]) => key)).size === pairs.length ? Object.fromEntries(pairs) : value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

async function definition(at: FsContext, path: string, sought: string | number) {
  const { findDefinition } = await import("./read/definition.ts");
  return await findDefinition(at, path, sought);
}

async function patch(at: FsContext, text: string) {
  const { patchFiles } = await import("./change/patch_files.ts");
  return await patchFiles(at, text);
}

async function undo(at: FsContext, options: UndoOptions = {}) {
  const { undoChanges } = await import("./change/undo_changes.ts");
  const { files, kept } = await undoChanges(at, { ...options, rest: true, conversation: at.conversationId });
  return [...files, ...kept.map(({ path, reason }) => ({ path, kept: reason }))];
}

async function search(env: EnvironmentView, pattern: string, options?: GrepOptions): Promise<unknown> {
  const { grep } = await import("./search/grep.ts");
  return await grep(await places.of(env), pattern, options);
}

async function count(env: EnvironmentView, pattern: string, options?: CountOptions): Promise<number> {
  const { count } = await import("./search/grep.ts");
  return await count(await places.of(env), pattern, options);
}

function grepArguments(args: readonly unknown[]): unknown[] {
  const [pattern, where, more, ...rest] = args;
  const flags = pattern instanceof RegExp && pattern.ignoreCase ? { ignoreCase: true } : {};
  const place = typeof where === "string" ? { path: where } : Array.isArray(where) ? { path: where } : where ?? {};
  const isPlain = [place, more ?? {}].every((one) => typeof one === "object" && one !== null && !Array.isArray(one));
  if (!isPlain || typeof pattern === "undefined") return [...args];
  const options = { ...flags, ...Object(place), ...Object(more ?? {}) };
  const paths: readonly unknown[] = [options.path ?? []].flat();
  const isGlob = options.glob === undefined && paths.length > 0 && paths.every((one) => String(one).includes("*"));
  return [
    pattern instanceof RegExp ? pattern.source : pattern,
    isGlob ? { ...options, path: undefined, glob: options.path } : options,
    ...rest,
  ];
}

function foundAs(one: string): (found: readonly unknown[]) => string {
  return ({ length }) => counted(length, one);
}

interface ChangedPath {
  readonly path: string;
}

function pathsOf(changed: ChangedPath | readonly ChangedPath[]): CallOutcome {
  return { text: "", subject: [changed].flat().map(({ path }) => path) };
}

function undoneOf(files: readonly { readonly path: string; readonly kept?: string }[]): CallOutcome {
  const kept = files.filter((one) => one.kept !== undefined).map(({ path }) => path);
  const restored = files.filter((one) => one.kept === undefined);
  return { ...pathsOf(restored), text: kept.length === 0 ? "" : `kept ${kept.join(", ")}` };
}
