import { relative } from "node:path";
import { UsageError } from "../../../domain/errors.ts";
import { isBelow } from "../../../domain/kit/files.ts";
import { counted, localTime, oneLine, shellText, visibleText } from "../../../domain/kit/text.ts";
import {
  earlierRequest,
  type FileChange,
  keptText,
  runUndo,
  undoCuts,
  undonePlaces,
  type UndoReport,
  undoWays,
} from "../../../domain/undo.ts";
import type { ExtensionAdmin } from "../../../domain/admin_reports.ts";
import type { Io } from "../../channel.ts";
import { diffLines } from "../../../markdown/terminal/diff_lines.ts";
import { terminalPaint } from "../../../markdown/terminal/paint.ts";
import { jsonText } from "../output.ts";
import { browse, type StoredCommand } from "../program/command.ts";

interface UndoFlags {
  readonly list: boolean;
  readonly last?: number | undefined;
  readonly scope?: string | undefined;
  readonly conversation?: string | undefined;
  readonly redo: boolean;
  readonly force: boolean;
  readonly rest: boolean;
  readonly dryRun: boolean;
  readonly cwd?: string | undefined;
  readonly json: boolean;
}

const SHOWN_LINES = 60;
const SHOWN_PATHS = 4;

export async function undoCommand(
  { services, io, flags }: StoredCommand<UndoFlags>,
): Promise<number> {
  if (flags.last !== undefined && flags.scope !== undefined) {
    throw new UsageError("Cannot undo by both --last and --scope: they exclude each other; use only one of them");
  }
  const { last: steps, scope, list: isList, redo, force, rest } = flags;
  const admin = await services.extensionAdmin({ cwd: flags.cwd });
  const whose = flags.conversation === undefined ? {} : await ofBranch(flags.conversation, { admin, services, flags });
  const wanted = { steps, scope, ...whose, list: isList, faults: isList, redo, force, rest };
  const report = await runUndo(admin, { ...wanted, dryRun: flags.dryRun, effect: flags.dryRun });
  if (report === null) {
    throw new UsageError(
      `Cannot ${redo ? "redo" : isList ? "list" : "undo"} changes: the extension that records file changes is not ` +
        "loaded; vis extensions list shows why",
    );
  }
  if (flags.json) io.stdout(jsonText(report.error === undefined ? report : { error: errorOf(report) }));
  if (report.error !== undefined) io.stderr(`vis: ${visibleText(report.error)}${hint(report, flags)}\n`);
  else if (!flags.json && flags.list) list(report.changes ?? [], { io, flags });
  else if (!flags.json) {
    show(report, { io, flags });
    const of = steps === undefined && !redo ? await requestOf(report, { services, flags }) : "";
    if (of !== "") io.stderr(`vis: ${visibleText(of)}\n`);
  }
  const [newest] = report.changes ?? [];
  if (report.nothing || isList && newest === undefined || report.error === undefined && !isList && !redo) {
    // A fault of this hint must not change the result of the undo.
    const elsewhere = await changesElsewhere(newest?.at ?? null, { services, flags }).catch(() => null);
    if (elsewhere !== null) io.stderr(`vis: ${visibleText(elsewhere)}\n`);
  }
  return report.error === undefined && (report.kept ?? []).length === 0 ? 0 : 1;
}

const WHOLE_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Databases share the record of file changes, so an id that this database lacks can have changes. */
async function ofBranch(
  id: string,
  { admin, services, flags }: Pick<StoredCommand<UndoFlags>, "services" | "flags"> & {
    readonly admin: Pick<ExtensionAdmin, "run">;
  },
): Promise<{ readonly conversation: string; readonly cuts?: string }> {
  return await browse({ services, flags }, async ({ conversations }) => {
    try {
      const branch = await conversations.byId(id);
      return { conversation: branch.conversationId, ...await undoCuts(conversations, branch) };
    } catch (error) {
      if (!(error instanceof UsageError) || !WHOLE_ID.test(id)) throw error;
      const conversation = id.toLowerCase();
      const report = await runUndo(admin, { list: true, conversation });
      if (report?.changes?.length === 0) throw error;
      return { conversation };
    }
  });
}

const LATEST = 200, MOST_FOLDERS = 5;

async function changesElsewhere(
  since: number | null,
  { services, flags }: Pick<StoredCommand<UndoFlags>, "services" | "flags">,
): Promise<string | null> {
  return await browse({ services, flags }, async ({ conversations, workspace }) => {
    const branch = flags.conversation === undefined ? null : await conversations.byId(flags.conversation);
    const latest = branch === null ? await conversations.list({ limit: LATEST }) : [branch];
    const isNear = (folder: string): boolean =>
      folder !== "" && folder !== workspace &&
      (branch !== null || isBelow(folder, workspace) || isBelow(workspace, folder));
    const folders = new Set(latest.map((one) => one.workspace).filter(isNear));
    for (const folder of [...folders].slice(0, MOST_FOLDERS)) {
      const admin = await services.extensionAdmin({ cwd: folder });
      const options = { list: true, ...(branch === null ? {} : { conversation: branch.conversationId }) };
      const { changes = [] } = await runUndo(admin, options).catch(() => null) ?? {};
      const isOpen = ({ at, change, undone }: FileChange): boolean =>
        !undone && (since === null || at > since) &&
        (flags.redo ? change === "undo" : change !== "undo" && change !== "redo");
      if (!changes.some(isOpen)) continue;
      const path = flags.cwd === undefined && isBelow(folder, workspace) ? relative(workspace, folder) : folder;
      const command = ["vis", "undo", ...flags.redo ? ["--redo"] : [], "--cwd", path];
      return `${since === null ? "The latest" : "Later"} file changes are of ${path}; run ${shellText(command)}`;
    }
    return null;
  });
}

async function requestOf(
  report: UndoReport,
  { services, flags }: Pick<StoredCommand<UndoFlags>, "services" | "flags">,
): Promise<string> {
  const id = flags.conversation ?? report.changes?.[0]?.conversationId ?? "";
  return await browse({ services, flags }, async ({ conversations }) => {
    const branch = await conversations.byId(id).catch(() => null);
    if (branch === null) return "";
    const earlier = await earlierRequest(report, { conversations, branch });
    const last = (await conversations.queries(branch)).at(-1);
    if (earlier !== "" || !last || last.queryId !== report.changes?.[0]?.queryId) return earlier;
    return `This was the request ${JSON.stringify(oneLine(last.text, 100))} of ${localTime(last.createdAt)}`;
  });
}

function hint(report: UndoReport, { redo }: UndoFlags): string {
  const ways = undoWays(report, { redo, rest: "--rest", force: "--force" });
  return ways.length === 0 ? "" : ` (${ways.join("; ")})`;
}

function errorOf({ error: message, code: reason, kept }: UndoReport): object {
  return { code: 1, message, ...(reason ? { reason } : {}), ...(kept ? { kept } : {}) };
}

function list(
  changes: readonly FileChange[],
  { io, flags }: { readonly io: Io; readonly flags: UndoFlags },
): void {
  const whose = flags.conversation === undefined ? "" : " of this conversation";
  if (changes.length === 0) io.stderr(`No file changes${whose} are recorded for this workspace\n`);
  for (const { at, change, conversationId, paths, undone, kept = [], committed = [], blocked = [] } of changes) {
    const more = paths.length > SHOWN_PATHS ? ` (+${paths.length - SHOWN_PATHS})` : "";
    const shown = visibleText(`${paths.slice(0, SHOWN_PATHS).join(" ")}${more}`);
    const time = localTime(at, "second");
    const named = (some: readonly string[]): string =>
      some.length === paths.length ? "" : `${some.slice(0, SHOWN_PATHS).join(" ")} `;
    const reasons = [...Map.groupBy(blocked, ({ reason }) => reason)]
      .map(([reason, those]) => `${named(those.map(({ path }) => path))}${reason}`);
    const states = [
      undone ? "  undone" : "",
      kept.length > 0 ? ` except ${kept.slice(0, SHOWN_PATHS).join(" ")}` : "",
      committed.length > 0 ? `  ${named(committed)}went into a git commit since (--force undoes it)` : "",
      reasons.length > 0 ? `  cannot undo: ${reasons.join("; ")}` : "",
    ].join("");
    io.stdout(
      `${time}  ${conversationId.slice(0, 13).padEnd(13)}  ${change.padEnd(9)}  ${shown}${visibleText(states)}\n`,
    );
  }
}

function show(report: UndoReport, { io, flags }: { readonly io: Io; readonly flags: UndoFlags }): void {
  const { changes = [], files = [] } = report;
  const paint = terminalPaint({ color: io.stdoutColor, weights: io.stdoutColor });
  const width = io.stdoutIsTerminal ? io.columns() : Infinity;
  for (const { diff } of files) {
    for (const line of diffLines(diff, { width, paint, most: SHOWN_LINES })) io.stdout(`${line}\n`);
  }
  const what = flags.redo ? "the undone changes" : counted(changes.length, "change");
  const where = undonePlaces(report) || "no file, since all are already like this";
  const hint = flags.redo ? "" : " (vis undo --redo reapplies them)";
  if (flags.dryRun) io.stderr(`Would ${flags.redo ? "reapply" : "undo"} ${what} in ${where}\n`);
  else io.stderr(`${flags.redo ? "Reapplied" : "Undid"} ${what} in ${where}${hint}\n`);
  for (const note of report.notes ?? []) io.stderr(`vis: ${visibleText(note)}\n`);
  const kept = visibleText(keptText(report));
  const force = report.code ? `; --force ${flags.redo ? "redoes" : "undoes"} it there too` : "";
  if (kept !== "") io.stderr(`vis: ${kept}${force}\n`);
}
