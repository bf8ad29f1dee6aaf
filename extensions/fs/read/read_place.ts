import { realpathSync } from "node:fs";
import { relative, resolve } from "node:path";
import {
  advised,
  commandText,
  counted,
  type DecodedText,
  decodeText,
  isSecretFile,
  Pace,
  reasonOf,
} from "@vis/extension";
import { addedFolderOf, inWorkspace, movedMeanwhile, type WorkspacePath } from "../confine.ts";
import type { FsContext, SecretFile } from "../context.ts";
import { missing } from "../find_files.ts";
import { encodingNamed } from "../text_format.ts";
import { type Facts, fromTop, type OpenFile, sha256Of, sizeText } from "../tree/tree.ts";

export const MAX_READ_BYTES = 1024 * 1024;
const CHUNK = 1024 * 1024;

/** The caller closes the file. With `isChange`, the question about a secret file may wait until it can show the
 * change, and its answer does not show the text to the model. */
export async function openFile(
  context: FsContext,
  { place, action, isChange = false }: {
    readonly place: WorkspacePath;
    readonly action: string;
    readonly isChange?: boolean;
  },
): Promise<OpenFile> {
  if (place.info === null) throw await missing(context, { action, path: place.path });
  if (place.info.kind === "dir") {
    throw advised(
      new Error(`Cannot ${action} ${place.path}: it is a folder`),
      `list it with fs.listFiles(${JSON.stringify(place.path)})`,
    );
  }
  if (place.info.kind !== "file") throw new Error(`Cannot ${action} ${place.path}: it is not a regular file`);
  const file = { place, action, isChange };
  refuseKeyFile(context, file);
  if (!isChange || !context.unasked) await askForSecret(context, file);
  else if (isSecretPlace(context, place)) context.unasked.set(place.real, file);
  await context.fileRead?.(place.real);
  try {
    return context.tree.open(place.real);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw await missing(context, { action, path: place.path });
    if (error instanceof Deno.errors.FilesystemLoop) throw movedMeanwhile(place.path);
    const reason = error instanceof Deno.errors.PermissionDenied
      ? "access is denied"
      : error instanceof Deno.errors.IsADirectory
      ? "it is not a regular file"
      : reasonOf(error);
    throw new Error(`Cannot ${action} ${place.path}: ${reason}`, { cause: error });
  }
}

export const INSTEAD = "change it with a command";

export function tooLarge(
  cannot: string,
  { size, most, by, wayOut = "" }: {
    readonly size: number;
    readonly most: number;
    readonly by: string;
    readonly wayOut?: string;
  },
): RangeError {
  if (size <= most) return advised(new RangeError(`${cannot}: the file grew during the call`), "try again");
  const error = new RangeError(`${cannot}: the file has ${size} bytes, and ${by} ${most} bytes`);
  return wayOut === "" ? error : advised(error, wayOut);
}

/** Resolves with null if `size`, the size at the beginning, is above `most`, or if the file has grown. */
export async function readWhole(
  file: OpenFile,
  { size, most, signal }: { readonly size: number; readonly most: number; readonly signal: AbortSignal | undefined },
): Promise<Uint8Array<ArrayBuffer> | null> {
  if (size > most) return null;
  const pace = new Pace(signal);
  const buffer = new Uint8Array(size + 1);
  let used = 0;
  while (used < buffer.length) {
    if (pace.due) await pace.rest();
    const count = file.read(buffer.subarray(used, used + CHUNK));
    if (count === 0) break;
    used += count;
  }
  return used <= size ? buffer.subarray(0, used) : null;
}

interface Text {
  readonly place: Pick<WorkspacePath, "path" | "real">;
  readonly action: string;
  readonly encoding?: string | undefined;
  readonly size?: number;
}

export function textOf(
  context: FsContext,
  bytes: Uint8Array,
  { place, action, encoding, size = bytes.length }: Text,
): DecodedText {
  const name = encoding === undefined ? undefined : encodingNamed(encoding, `Cannot ${action} ${place.path}`);
  const decoded = decodeText(bytes, name);
  if (decoded === null) throw new Error(`Cannot ${action} ${place.path}: it is a binary file of ${sizeText(size)}`);
  if (decoded.replaced > 0) {
    const count = counted(decoded.replaced, "character");
    const verb = decoded.replaced === 1 ? "is" : "are";
    context.note(
      `${place.path}: ${count} not in ${decoded.encoding} ${verb} read as U+FFFD; fs.readFile(path, {encoding}) reads another encoding`,
    );
  } else if (decoded.isGuess) {
    context.note(
      `${place.path} is read as ${decoded.encoding}, a guess; fs.readFile(path, {encoding}) reads another encoding`,
    );
  }
  return decoded;
}

export function knownEncoding(context: FsContext, { real }: Pick<WorkspacePath, "real">): string | undefined {
  return context.ledger.find(context.conversationId, `${context.root}/${real}`)?.encoding ?? undefined;
}

export function rememberFile(
  context: FsContext,
  known: {
    readonly place: Pick<WorkspacePath, "real">;
    readonly bytes: Uint8Array | null;
    readonly lossy: boolean;
    readonly encoding: string | null;
    readonly info: Facts;
    readonly isOwn?: boolean;
  },
): void {
  const { isOwn = isOwnText(context, { real: known.place.real, info: known.info }) } = known;
  context.ledger.remember(context.conversationId, `${context.root}/${known.place.real}`, {
    mtime: known.info.modified,
    size: known.info.size,
    hash: known.bytes === null ? null : sha256Of(known.bytes),
    lossy: known.lossy,
    encoding: known.encoding,
    isOwn,
  });
}

export async function isHiddenSecret(context: FsContext, place: SecretFile["place"]): Promise<boolean> {
  return await needsQuestion(context, { place, action: "read" });
}

async function needsQuestion(context: FsContext, file: SecretFile): Promise<boolean> {
  const { place } = file;
  if (isKeyFile(context, place)) return true;
  if (!isSecretPlace(context, place)) return false;
  const info = context.tree.look(place.real);
  if (info && isOwnText(context, { real: place.real, info })) return false;
  const { allowed = false } = await context.approve?.(questionAbout(file), { isQuiet: true }) ?? {};
  return !allowed;
}

const KEY_FILES = ["auth.json", "server-token"];

/** Vis saves its own keys in these files. No answer and no setting gives them to the model. */
function isKeyFile({ root, home }: FsContext, { path, real }: SecretFile["place"]): boolean {
  if (home === null) return false;
  const own = realFolder(home);
  return [path, real].some((one) => KEY_FILES.includes(relative(own, resolve(root, one)).toLowerCase()));
}

function realFolder(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

export function refuseKeyFile(context: FsContext, { action, place }: SecretFile): void {
  if (context.conversationId === "" || !isKeyFile(context, place)) return;
  throw new Error(`Cannot ${action} ${place.path}: Vis keeps its own keys in this file`);
}

export function isSecretPlace(context: FsContext, place: Pick<SecretFile["place"], "path" | "real">): boolean {
  return secretNames(context, place).length > 0 || isKeyFile(context, place);
}

function secretNames(
  context: FsContext,
  { path, real }: Pick<SecretFile["place"], "path" | "real">,
): readonly string[] {
  const { secrets, tree } = context;
  const names = [real, path].flatMap((one) => {
    if (addedFolderOf(context, one) === "") return [fromTop(tree, one)];
    // An added folder may contain the workspace.
    const below = inWorkspace(context, one);
    return below === null ? [one] : [one, fromTop(tree, below)];
  });
  return [...new Set(names)].filter((one) => isSecretFile(one, secrets));
}

export function isOwnText(
  { ledger, conversationId, root }: FsContext,
  { real, info }: { readonly real: string; readonly info: Facts },
): boolean {
  const known = ledger.find(conversationId, `${root}/${real}`);
  return known !== null && known.isOwn && known.mtime === info.modified && known.size === info.size;
}

export async function askForSecret(
  context: FsContext,
  file: SecretFile & { readonly isOther?: boolean },
): Promise<void> {
  if (context.conversationId === "" || !isSecretPlace(context, file.place)) return;
  if (file.isOther || await needsQuestion(context, file)) await askAbout(context, file);
}

const MOST_SHOWN = 3_000, LONGEST_OPTION = 300;

export async function askForUnasked(
  context: FsContext,
  changeOf: (real: string) => Promise<string | null> = () => Promise.resolve(null),
): Promise<void> {
  const { unasked, conversationId } = context;
  const files = [...unasked?.values() ?? []];
  unasked?.clear();
  if (conversationId === "") return;
  for (const file of files) {
    if (!await needsQuestion(context, file)) continue;
    const shown = await changeOf(file.place.real);
    if (shown !== null && shown.length > MOST_SHOWN) {
      throw advised(
        new Error(
          `Cannot ${file.action} ${file.place.path}: the file may hold keys, and a question shows at most ` +
            `${MOST_SHOWN} of the ${shown.length} characters of the change`,
        ),
        "change fewer lines at once",
      );
    }
    await askAbout(context, file, shown);
  }
}

/** The model could read the text of a secret file in the new place, so the question is also about reading. */
export function revealAt(context: FsContext, to: Pick<SecretFile["place"], "path" | "real">, from: string): void {
  const { unasked = new Map<string, SecretFile>() } = context;
  if (isSecretPlace(context, to) || !isSecretPlace(context, { path: from, real: from })) return;
  // An earlier part of a patch may have made the source from any of these files.
  for (const [real, file] of unasked) {
    if (real === from || !unasked.has(from)) unasked.set(real, { ...file, isRead: true });
  }
}

/** An error of these actions may contain the text of the file, which the model then reads. */
const EXPLAINED = ["edit", "patch"];

export async function askForError(context: FsContext): Promise<void> {
  for (const { place, action } of context.unasked?.values() ?? []) {
    if (EXPLAINED.includes(action)) await askForSecret(context, { place, action: `explain the failed ${action} of` });
  }
}

async function askAbout(context: FsContext, file: SecretFile, shown: string | null = null): Promise<void> {
  refuseKeyFile(context, file);
  const option = optionFor(context, file.place);
  const question = { ...questionAbout(file, shown), ...option.length > LONGEST_OPTION ? {} : { option } };
  const { allowed = false, reason = "no user can answer here" } = await context.approve?.(question) ?? {};
  if (allowed) return;
  const { action, place } = file;
  throw new Error(
    `Cannot ${action} ${place.path}: it may hold keys, and ${reason}; the user can change the setting secrets, which names such files`,
  );
}

function optionFor(context: FsContext, place: SecretFile["place"]): string {
  const words = secretNames(context, place).flatMap((name) => ["--set", `secrets=!${name}`]);
  return commandText(words, {});
}

function questionAbout(
  { place, action, isChange = false, isRead = !isChange }: SecretFile,
  shown: string | null = null,
) {
  const { path, real } = place, uses = [...isRead ? ["reading"] : [], ...isChange ? ["changing"] : []];
  return {
    what: `${action} ${path}, which may hold keys${isRead ? ": the model and its service see the text" : ""}`,
    ...shown === null || shown === "" ? {} : { change: shown },
    why: "",
    scope: `${uses.join(" and ")} ${real}`,
    scopes: [
      ...isRead ? [`the secret file ${real}`] : [],
      ...isChange ? [`changes of the secret file ${real}`] : [],
    ],
  };
}
