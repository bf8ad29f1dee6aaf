import { type CliContext, z } from "@vis/extension";
import {
  committedFiles,
  isForcible,
  isOf,
  lostPaths,
  NothingToUndo,
  openChanges,
  undoChanges,
  undoFaults,
  type UndoOptions,
  UndoRefused,
} from "./change/undo_changes.ts";
import { type Checkpoint, recordedFolders } from "./checkpoints.ts";
import type { FsContext } from "./context.ts";
import type { FsPlaces } from "./fs_places.ts";

export const UNDO_ARGUMENTS = z.object({
  list: z.boolean().optional(),
  faults: z.boolean().optional(),
  steps: z.number().int().min(1).optional(),
  scope: z.enum(["request", "step", "call"]).optional(),
  conversation: z.string().optional(),
  redo: z.boolean().optional(),
  force: z.boolean().optional(),
  rest: z.boolean().optional(),
  committed: z.boolean().optional(),
  dryRun: z.boolean().optional(),
  effect: z.boolean().optional(),
  changes: z.string().optional(),
  /** A cut has the form QUERY@MS, with commas between cuts. Changes of the query QUERY count only before MS. */
  cuts: z.string().optional(),
});

interface Place {
  print(text: string): void;
  readonly workspace: string;
  readonly root?: string;
  readonly home: string | null;
  readonly secrets?: readonly string[];
  readonly spawn?: CliContext["spawn"];
}

/** Resolves with 1 if the undo kept a file or failed. */
export async function undoCli(
  { list = false, faults = false, scope = "request", changes: ids, cuts, ...options }: z.infer<typeof UNDO_ARGUMENTS>,
  { print, workspace, root, home, secrets = [], spawn, places }: Place & { readonly places: FsPlaces },
): Promise<number> {
  const printJson = (value: unknown): void => print(`${JSON.stringify(value)}\n`);
  const notes: string[] = [];
  const own = { workspace, home, secrets, ...(root === undefined ? {} : { root }), ...(spawn ? { spawn } : {}) };
  const alone = { ...own, conversationId: "", note: (text: string) => void notes.push(text) };
  try {
    const { checkpoints } = await places.of(alone);
    const view = { ...alone, readFolders: recordedFolders(await checkpoints?.list() ?? []) };
    if (list) {
      printJson({ changes: await listed(await places.of(view), { ...options, faults }) });
      return 0;
    }
    const { changes, files, folders, kept } = await places.change(
      view,
      (at) => undoChanges(at, { scope, ...options, changes: ids?.split(","), cuts: cuts?.split(",").map(cutOf) }),
    );
    const facts = changes.map((one) => ({ ...factsOf(one), queryId: (one.undone[0] ?? one).queryId }));
    const code = isForcible(kept) ? { code: "files_changed" } : {};
    printJson({ changes: facts, files, folders, kept, ...code, ...(notes.length > 0 ? { notes } : {}) });
    return kept.length === 0 ? 0 : 1;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    printJson({ error: error.message, ...reasonsOf(error) });
    return 1;
  }
}

function reasonsOf(error: Error): object {
  if (error instanceof NothingToUndo) return { nothing: true };
  if (!(error instanceof UndoRefused)) return {};
  const { forcible, others, otherFolders, kept } = error;
  const rest = others + otherFolders > 0 ? { others, ...(otherFolders > 0 ? { otherFolders } : {}) } : {};
  return { ...(forcible ? { code: "files_changed" } : {}), ...rest, ...(kept.length > 0 ? { kept } : {}) };
}

function cutOf(text: string): { readonly queryId: string; readonly at: number } {
  const [queryId = "", at = ""] = text.split("@");
  return { queryId, at: Number(at) };
}

async function listed(
  context: FsContext,
  { conversation = "", faults }: Pick<UndoOptions, "conversation"> & { readonly faults: boolean },
) {
  const all = await context.checkpoints?.list() ?? [];
  const open = new Map(openChanges(all).map((one) => [one.id, one]));
  const whole = [...open.values()].filter(({ isRest }) => !isRest).reverse();
  const inCommit = await committedFiles(context, whole);
  const undoable = whole.filter((one) => one.change !== "undo" && one.change !== "redo" && isOf(one, conversation));
  const lost = faults ? null : lostPaths(undoable);
  const faulty = await undoFaults(context, faults ? undoable : []);
  return all.filter((one) => isOf(one, conversation)).reverse()
    .map((one) => {
      const rest = open.get(one.id);
      const facts = { ...factsOf(one), undone: rest === undefined || rest.isRest };
      if (rest?.isRest) return { ...facts, kept: factsOf(rest).paths };
      const committed = rest ? facts.paths.filter((path) => one.at < (inCommit.get(path) ?? 0)) : [];
      const blocked = faulty.get(one.id)?.filter(({ path }) => !committed.includes(path)) ?? [];
      return {
        ...facts,
        ...committed.length > 0 ? { committed } : {},
        ...lost?.get(one.id)?.length ? { lost: lost.get(one.id) } : {},
        ...blocked.length > 0 ? { blocked } : {},
      };
    });
}

function factsOf({ id, at, change, conversationId, queryId, iterationId, items }: Checkpoint) {
  const files = items.filter(({ before, after }) => (after ?? before)?.kind !== "dir").map(({ path }) => path);
  const paths = files.length > 0 ? files : items.map(({ path }) => `${path}/`);
  return { id, at, change, conversationId, queryId, iterationId, paths };
}
