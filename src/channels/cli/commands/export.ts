import { forkNumbers } from "../../../conversation/conversations.ts";
import { mkdtemp, open, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ExportFormat } from "../../../conversation/export/exports.ts";
import type { ArchiveCode } from "../../../conversation/export/read_archive.ts";
import { fileFault, UsageError } from "../../../domain/errors.ts";
import { counted, someOf, visibleText } from "../../../domain/kit/text.ts";
import { MAX_ARCHIVE_BYTES } from "../../../domain/records/conversations.ts";
import type { Io } from "../../channel.ts";
import { jsonText } from "../output.ts";
import { browse, type StoredCommand } from "../program/command.ts";
import { branchLines } from "./conversations.ts";

const MAX_NAMES = 20;
const READ_BYTES = 64 * 1024;

export async function exportCommand(
  id: string | undefined,
  { services, io, flags }: StoredCommand<{ readonly format: ExportFormat; readonly output?: string | undefined }>,
): Promise<number> {
  return await browse({ services, flags }, async ({ conversations, workspace }) => {
    const branch = id === undefined ? await conversations.latest(workspace) : await conversations.byId(id);
    if (branch === null) {
      throw new UsageError(
        `Cannot export a conversation: workspace ${workspace} has none yet; name one by its id, or send a request first`,
      );
    }
    const branches = await conversations.branches(branch.conversationId);
    const numbers = await forkNumbers(conversations, branches);
    const { branchId: lastUsed } = await conversations.byId(branch.conversationId);
    const tree = branchLines(branches, { shown: branch.branchId, lastUsed, numbers });
    const how = { conversations, format: flags.format, branches: tree.map(visibleText) };
    await using made = await conversations.exports.make(branch, how);
    if (flags.output !== undefined) await writeWhole(flags.output, made.pieces());
    else await printPieces(made.pieces(), io);
    return 0;
  });
}

async function printPieces(pieces: AsyncIterable<Uint8Array>, { stdout }: Io): Promise<void> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  for await (const piece of pieces) stdout(decoder.decode(piece, { stream: true }));
}

/** A failed export leaves an existing regular file unchanged. */
async function writeWhole(path: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    const goal = await realpath(path).catch(() => path);
    const there = await stat(goal).catch(() => null);
    if (there !== null && !there.isFile() && !there.isDirectory()) return await writePieces(goal, { pieces, as: "w" });
    const folder = await mkdtemp(join(dirname(goal), ".vis-export-"));
    try {
      const target = join(folder, "export");
      await writePieces(target, { pieces, as: "wx" });
      await rename(target, goal);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(
      `Cannot write ${path}: ${fileFault(error)}; name another file with --output`,
    );
  }
}

async function writePieces(
  path: string,
  { pieces, as }: { readonly pieces: AsyncIterable<Uint8Array>; readonly as: "w" | "wx" },
): Promise<void> {
  const file = await open(path, as, 0o600);
  try {
    for await (const piece of pieces) await file.writeFile(piece);
  } finally {
    await file.close();
  }
}

interface ImportFlags {
  readonly output: "text" | "json";
  readonly quiet: boolean;
  readonly trust: boolean;
  readonly cwd?: string | undefined;
}

export async function importCommand(
  path: string,
  { services, io, flags }: StoredCommand<ImportFlags>,
): Promise<number> {
  return await browse({ services, flags }, async ({ conversations, workspace }) => {
    const trust = (code: ArchiveCode): Promise<void> => askTrust(code, { path, io, flags });
    const { conversationId, ids } = await conversations.records.import(piecesOf(path), { workspace, trust });
    if (flags.output === "json") {
      io.stdout(jsonText({ conversationId, ids: Object.fromEntries(ids) }, { indent: 2 }));
      return 0;
    }
    io.stdout(`${conversationId}\n`);
    if (!flags.quiet) {
      const branches = new Set((await conversations.branches(conversationId)).map(({ branchId }) => branchId));
      for (const [before, now] of ids) {
        if (now === conversationId) io.stderr(`conversation ${before} → ${now}\n`);
        else if (branches.has(now)) io.stderr(`branch       ${before} → ${now}\n`);
      }
      io.stderr(`${ids.size} new ids; --output json lists all of them\n`);
    }
    return 0;
  });
}

async function askTrust(
  { functions, classes }: ArchiveCode,
  { path, io, flags }: { readonly path: string; readonly io: Io; readonly flags: ImportFlags },
): Promise<void> {
  const counts = [countedNames(functions, "function"), countedNames(classes, "class")];
  const code = counts.filter((count) => count !== "").join(" and ");
  const warning = `${visibleText(path)} contains code: ${code}. ` +
    "A request that continues the conversation runs it in the sandbox, with everything that your requests may use.\n";
  if (flags.trust) return flags.quiet ? undefined : io.stderr(warning);
  if (io.stdinIsTerminal && io.stderrIsTerminal) {
    io.stderr(warning);
    if (/^y(es)?$/i.test((await io.askLine("Do you trust it? [y/N] ", { typedNow: true })).trim())) return;
  }
  const why = `${visibleText(path)} has code that later requests would run (${code})`;
  throw new UsageError(`Cannot import the conversation: ${why}; if you trust the file, add --trust`);
}

function countedNames(names: readonly string[], one: string): string {
  return names.length === 0 ? "" : `${counted(names.length, one)} (${someOf(names, MAX_NAMES)})`;
}

async function* piecesOf(path: string): AsyncGenerator<Uint8Array> {
  try {
    const { size } = await stat(path);
    if (size > MAX_ARCHIVE_BYTES) {
      throw new UsageError(
        `Cannot import ${path}: it has ${size} bytes, more than the limit of ${MAX_ARCHIVE_BYTES}; vis db backup copies a whole database`,
      );
    }
    using file = await Deno.open(path);
    for (;;) {
      const piece = new Uint8Array(READ_BYTES);
      const read = await file.read(piece);
      if (read === null) return;
      yield piece.subarray(0, read);
    }
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(
      `Cannot import ${path}: ${fileFault(error)}; name another file`,
    );
  }
}
