import { counted, oneLine } from "../kit/text.ts";
import type { HostCallEvent } from "./host_call.ts";
import type { Work } from "./query_schemas.ts";

const MAX_KEPT = 200, MAX_LISTED = 20, SHOWN_COMMANDS = 3, SHOWN_OTHERS = 6, SHOWN_CHARS = 60, FAILURE_CHARS = 100;

interface Command {
  readonly exitCode: number | null;
  readonly outcome: string;
}

interface OtherChange {
  readonly alias: string;
  readonly what: string;
  outcome: string;
  readonly isUnfinished: boolean;
  readonly partOf: string | undefined;
}

export class QueryWork {
  readonly #commands = new Map<string, Command>();
  #others: readonly OtherChange[] = [];
  readonly changers = new Set<string>();
  acted = false;
  /** A successful call other than a command sets this field if the call may have changed something. */
  changed = false;
  ran = false;

  take(
    { name, phase = "end", action, outcome = "", ok = false, output = "", exitCode, unfinished, partOf, changes }:
      & Pick<HostCallEvent, "name" | "action" | "outcome" | "ok" | "output" | "exitCode" | "unfinished" | "partOf">
      & Pick<HostCallEvent, "changes">
      & { readonly phase?: HostCallEvent["phase"] },
  ): void {
    if (phase !== "end") return;
    const isThrown = !ok && changes === undefined && unfinished === true;
    if (isThrown) this.#keepCommand(name, { exitCode: null, outcome: oneLine(output, FAILURE_CHARS) });
    if (changes === undefined && exitCode === undefined) return;
    if (ok) this.#commands.delete(name);
    this.acted = true;
    if (ok && exitCode === undefined) this.changed = true;
    if (ok && exitCode === 0) this.ran = true;
    const { done = "", subject = "" } = action ?? {};
    const alias = name.slice(0, name.lastIndexOf("."));
    if (changes === "files") this.changers.add(alias);
    if (exitCode !== undefined) {
      if (subject === "") return;
      this.#keepCommand(subject, { exitCode, outcome });
    } else if (changes === "other" || unfinished !== undefined) {
      if (unfinished === false) {
        // The call that finished the work has its own outcome.
        for (const other of this.#others) if (other.isUnfinished && other.alias === alias) other.outcome = "";
        if (partOf !== undefined) {
          this.#others = this.#others.filter((other) => other.alias !== alias || other.partOf !== partOf);
        }
      }
      if (done === "" || done === `called ${name}` || this.#others.length >= MAX_KEPT) return;
      const what = `${done} ${subject}`.trimEnd();
      if (this.#others.some((other) => other.what === what && other.outcome === outcome)) return;
      const part = unfinished === false ? undefined : partOf;
      this.#others = [...this.#others, { alias, what, outcome, isUnfinished: unfinished === true, partOf: part }];
    }
  }

  #keepCommand(command: string, how: Command): void {
    this.#commands.delete(command);
    this.#commands.set(command, how);
    if (this.#commands.size <= MAX_KEPT) return;
    const [good] = [...this.#commands].find(([, one]) => !hasFailed(one)) ?? [command];
    this.#commands.delete(good);
  }

  facts(files: ChangedFiles, { claimed }: { readonly claimed: boolean }): Work {
    const commands = [...this.#commands].map(([command, how]) => ({ command, ...how }));
    const others = [
      ...new Set(this.#others.map(({ what, outcome }) => outcome === "" ? what : `${what} · ${outcome}`)),
    ];
    const { failed, good } = shownCommands(commands);
    const parts = [
      ...files.total === "" ? [] : [files.total],
      ...shown(others.slice(-SHOWN_OTHERS), others.length),
      ...failed.map(failedText),
      ...shown(withVerbs(good), commands.length - failed.length),
    ];
    const none = claimed && !this.acted ? "no file changed, no command ran" : "";
    return {
      ...files.counts,
      ...files.total === "" ? {} : { changed: files.total },
      commands: important(commands, MAX_LISTED),
      others: others.slice(-MAX_LISTED),
      text: parts.join(", ") || none,
    };
  }
}

export interface WorkParts {
  readonly changed: string;
  readonly others: string;
  readonly failed: Work["commands"];
  readonly good: Work["commands"];
  readonly rest: Work["commands"];
  readonly more: string;
}

export function workParts({ files, changed, others, commands, text }: Work): WorkParts {
  const { failed, good } = shownCommands(commands);
  const rest = commands.filter((one) => !failed.includes(one) && !good.includes(one));
  return {
    // Older versions of Vis stored no `changed`.
    changed: changed ?? (files > 0 || others.length + commands.length === 0 ? text : ""),
    others: shown(others.slice(-SHOWN_OTHERS), others.length).join(", "),
    ...{ failed, good, rest },
    more: rest.length === 0 ? "" : commands.length < MAX_LISTED ? `${rest.length} more` : "more",
  };
}

/** `fit` shortens a line of changed files or commands, but not the text after the line. `more` names a way to the omitted
 * commands. Without `more`, all listed commands appear. */
export function notesBelow(
  { notes, work }: { readonly notes: readonly string[]; readonly work?: Work | undefined },
  { undo, more: way = "", fit = (line, after) => line + after }: {
    readonly undo: string;
    readonly more?: string;
    readonly fit?: (line: string, after: string) => string;
  },
): readonly string[] {
  if (work === undefined) return notes;
  const { changed, others, failed, good, rest, more } = workParts(work);
  const after = work.files === 0 || work.noUndo ? "" : ` · ${undo}`;
  const ran = withVerbs(way === "" ? [...rest, ...good] : good).join(", ");
  const left = more === "" || way === "" ? "" : `, ${more} (${way})`;
  const lines = [
    ...changed === "" ? [] : [fit(changed, after)],
    ...others === "" ? [] : [others],
    ...failed.map((command) => fit(failedText(command), "")),
    ...ran === "" ? [] : [fit(ran, left)],
  ];
  return notes.flatMap((note) => note === work.text ? lines : [note]);
}

export const FAILED = "✗ ";

type Commands = Work["commands"];

function hasFailed({ exitCode, outcome }: Command): boolean {
  return exitCode !== 0 && outcome !== "";
}

function failedText({ command, outcome }: Commands[number]): string {
  return `${FAILED}${oneLine(command, SHOWN_CHARS)} (${outcome})`;
}

/** If there are more than `most` commands, failed commands take precedence, then commands with an outcome, such as a count
 * of tests. Within each group, newer commands take precedence. */
function important(commands: Commands, most: number): Commands {
  const rank = (one: Command): number => hasFailed(one) ? 0 : one.outcome !== "" ? 1 : 2;
  const first = new Set(commands.toReversed().toSorted((one, other) => rank(one) - rank(other)).slice(0, most));
  return commands.filter((one) => first.has(one));
}

function shownCommands(commands: Commands): { readonly failed: Commands; readonly good: Commands } {
  const listed = important(commands, MAX_LISTED);
  return {
    failed: listed.filter(hasFailed),
    good: important(listed.filter((one) => !hasFailed(one)), SHOWN_COMMANDS),
  };
}

/** One verb covers all successive commands with this verb. Without an exit code and an outcome, the command had not
 * ended. */
function withVerbs(commands: Commands): readonly string[] {
  const verbOf = ({ exitCode, outcome }: Commands[number]): string =>
    exitCode === null && outcome === "" ? "started" : "ran";
  return commands.map((command, at) => {
    const [verb, before] = [command, commands[at - 1]].map((one) => one && verbOf(one));
    const short = oneLine(command.command, SHOWN_CHARS);
    const text = command.outcome === "" ? short : `${short} (${command.outcome})`;
    return verb === before ? text : `${verb} ${text}`;
  });
}

function shown(texts: readonly string[], all: number): readonly string[] {
  return all > texts.length ? [...texts, `${all - texts.length} more`] : texts;
}

const MAX_FILES = 200, NAMED_FILES = 8;
/** Vis keeps at most this number of lines, to detect changes that later changes revert. */
const MAX_LINES = 50_000;
const MAX_NOTE = 200;

/** The last line of a diff after which a file is as before the request. */
export const AS_BEFORE = "… the file is now as before the request";

type Lines = Map<string, number>;

interface Counts {
  readonly added: number;
  readonly removed: number;
}

interface Changed extends Counts {
  readonly made: boolean;
  readonly done: string;
  readonly more: Lines;
  readonly less: Lines;
}

/** Within `MAX_LINES`, lines that a later change reverts do not count. A file that is unchanged in the end does not
 * count. */
export class ChangedFiles {
  readonly #files = new Map<string, Changed>();
  #room = MAX_LINES;

  add(diff: string): void {
    const path = changedPath(diff);
    if (path === null) return;
    if (diff.endsWith(`\n${AS_BEFORE}\n`)) return this.#forget(path);
    const { before, after } = sidesOf(diff), body = bodyOf(diff), left = leftOut(diff);
    const source = before || path;
    const known = this.#files.get(source);
    if (!known && this.#files.size >= MAX_FILES) return;
    this.#files.delete(source);
    this.#files.delete(path);
    const file = known ?? unchanged(before === null);
    const now = after === null && body.length === 0
      ? { ...unchanged(file.made), done: "removed" }
      : { ...this.#counted(file, body, left), done: doneAfter(file, { source, path, after }) };
    const isBack = known !== undefined && now.added + now.removed + now.done.length === 0 &&
      body.length + known.done.length > 0;
    if (!isBack && (after !== null || !file.made)) this.#files.set(path, now);
  }

  /** A folder that moved or was removed is a single entry. */
  #forget(path: string): void {
    for (const one of this.#files.keys()) if (one === path || path.startsWith(`${one}/`)) this.#files.delete(one);
  }

  #counted(file: Changed, body: readonly string[], left: Counts): Changed {
    const signed = (sign: string) => body.filter((line) => line.startsWith(sign)).map((line) => line.slice(1));
    const plus = without(signed("+"), file.less), minus = without(signed("-"), file.more);
    this.#keep(plus.rest, file.more);
    this.#keep(minus.rest, file.less);
    return {
      ...file,
      added: file.added + plus.rest.length - minus.taken + left.added,
      removed: file.removed + minus.rest.length - plus.taken + left.removed,
    };
  }

  #keep(lines: readonly string[], into: Lines): void {
    for (const line of lines.slice(0, this.#room)) into.set(line, (into.get(line) ?? 0) + 1);
    this.#room = Math.max(0, this.#room - lines.length);
  }

  get counts(): { readonly files: number; readonly added: number; readonly removed: number } {
    const sum = (key: "added" | "removed"): number => [...this.#files.values()].reduce((all, one) => all + one[key], 0);
    return { files: this.#files.size, added: sum("added"), removed: sum("removed") };
  }

  get total(): string {
    if (this.#files.size === 0) return "";
    const { added, removed } = this.counts;
    const names = [...this.#files].reverse().slice(0, NAMED_FILES).map(([path, { done }]) => withDone(path, done));
    const more = this.#files.size - names.length;
    const list = [...names, ...more > 0 ? [`${more} more`] : []].join(", ");
    const files = counted(this.#files.size, "file");
    return `${files} changed +${added} −${removed} (${list})`;
  }

  get line(): string {
    const shown = [...this.#files].reverse().slice(0, NAMED_FILES).map(([path, { added, removed, done }]) => {
      const lines = done !== "" && added + removed === 0 ? "" : ` +${added} −${removed}`;
      return `${withDone(path, done)}${lines}`;
    });
    const more = this.#files.size - shown.length;
    return [...shown, ...more > 0 ? [`${more} more`] : []].join(", ");
  }
}

function sidesOf(diff: string): { readonly before: string | null; readonly after: string | null } {
  const [, before = "", after = ""] = /^--- (.*)\n\+\+\+ (.*)$/m.exec(diff) ?? [];
  return { before: named(before), after: named(after) };
}

function bodyOf(diff: string): readonly string[] {
  const hunks = diff.indexOf("\n@@ ");
  return hunks < 0 ? [] : diff.slice(hunks + 1).split("\n");
}

export function leftOut(diff: string): Counts {
  const [, added = 0, removed = 0] = /^… .*left out, with \+(\d+) −(\d+) lines/m.exec(diff.slice(-MAX_NOTE)) ?? [];
  return { added: Number(added), removed: Number(removed) };
}

function named(name: string): string | null {
  return name === "/dev/null" ? null : name.replace(/^[ab]\//, "");
}

function doneAfter(
  { made, done }: Changed,
  { source, path, after }: { readonly source: string; readonly path: string; readonly after: string | null },
): string {
  if (source === path) return done === "removed" && after !== null ? "" : done;
  const first = done.startsWith("moved") ? done : `moved from ${source}`;
  return made || first === `moved from ${path}` ? "" : first;
}

function withDone(path: string, done: string): string {
  return done === "" ? path : `${path} ${done}`;
}

function unchanged(made: boolean): Changed {
  return { made, done: "", added: 0, removed: 0, more: new Map(), less: new Map() };
}

function without(lines: readonly string[], kept: Lines): { readonly rest: readonly string[]; readonly taken: number } {
  const rest = lines.filter((line) => {
    const times = kept.get(line) ?? 0;
    if (times > 0) kept.set(line, times - 1);
    return times === 0;
  });
  return { rest, taken: lines.length - rest.length };
}

export function changedPaths(diff: string): readonly string[] {
  const { before } = sidesOf(diff);
  return [...new Set([changedPath(diff) ?? "", before ?? ""])].filter((path) => path !== "");
}

export function changedPath(diff: string): string | null {
  const binary = /^Binary file (.*) (?:removed|replaced)$/m.exec(diff)?.[1];
  const { before, after } = sidesOf(diff);
  return binary ?? (after || before || null);
}
