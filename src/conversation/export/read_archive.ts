import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { z } from "zod";
import { UsageError } from "../../domain/errors.ts";
import { inputFault } from "../../domain/input_fault.ts";
import { jsonOrUndefined, JsonTooLarge, readForeignJson } from "../../domain/kit/json.ts";
import { clip } from "../../domain/kit/text.ts";
import type { ContentSource } from "../../domain/records/conversations.ts";
import {
  ARCHIVE_FORMAT,
  ARCHIVE_VERSION,
  type ConversationArchive,
  conversationArchive,
} from "../../persistence/archive_schema.ts";
import { restoredFault } from "../../sandbox/child/compiler/refusals.ts";
import { decode } from "../../sandbox/codec/codec.ts";
import { unnamedFile } from "./exports.ts";
import { ArchiveDigest } from "./write_archive.ts";

type Tables = ConversationArchive["tables"];

type State = Tables["expressionState"][number];

const MAX_CHILD_DEPTH = 50;

/** Without these limits, a hostile file could fill the memory or the stack. */
const LIMITS = { values: 2_000_000, depth: 500 };

const sentMessages = z.array(z.looseObject({ role: z.string(), content: z.string() }));

export function readArchive(text: string): ConversationArchive {
  return checked(text, null).archive;
}

/** `strings` must stay open while the caller uses the result. */
export function readArchiveFile(strings: LongStrings): CheckedArchive {
  try {
    return checked(strings.text, strings);
  } catch (error) {
    throw error instanceof TypeError || error instanceof SyntaxError
      ? refused("the file is not JSON in UTF-8", { cause: error })
      : error;
  }
}

interface CheckedArchive {
  readonly archive: ConversationArchive;
  readonly contents: ContentSource;
}

function checked(text: string, strings: LongStrings | null): CheckedArchive {
  try {
    const archive = parsed(text, strings);
    const contents = new Contents(archive, strings);
    checkStates(archive.tables, contents);
    checkTexts(archive.tables, contents);
    checkBranches(archive.tables);
    return { archive, contents };
  } catch (error) {
    // The engine throws RangeError if the stack or a string is too small for the file.
    throw error instanceof RangeError ? refused("the file is nested too deeply or too large", { cause: error }) : error;
  }
}

function parsed(text: string, strings: LongStrings | null): ConversationArchive {
  const short = jsonOf(text);
  const given = strings ? withTables(short, strings) : short;
  const format = z.object({ format: z.literal(ARCHIVE_FORMAT), version: z.number() }).safeParse(given);
  if (!format.success) throw refused("vis conversations export --format json did not write this file");
  const { version } = format.data;
  if (version !== ARCHIVE_VERSION) {
    const wayOut = version > ARCHIVE_VERSION ? "update Vis" : AGAIN;
    throw refused(`the archive has version ${version}, and this Vis reads version ${ARCHIVE_VERSION}`, { wayOut });
  }
  const archive = conversationArchive.safeParse(given, { error: inputFault });
  if (archive.success) {
    // Validation drops unknown fields, so the digest covers the file before validation.
    const { tables, contents, sha256 } = given as ConversationArchive;
    if (ArchiveDigest.of({ tables, contents }) !== sha256) {
      throw refused("its hash shows that the file was changed after the export");
    }
    return archive.data;
  }
  const [issue] = archive.error.issues;
  const place = issue === undefined
    ? ""
    : ` (${clip(issue.path.map(String).join("/"), 200) || "it"} ${clip(issue.message, 200)})`;
  throw refused(`the file is damaged${place}`);
}

function jsonOf(text: string): unknown {
  try {
    return readForeignJson(text, LIMITS);
  } catch (error) {
    throw refused(error instanceof JsonTooLarge ? error.what : "the file is not JSON", { cause: error });
  }
}

function withTables(given: unknown, strings: LongStrings): unknown {
  if (typeof given !== "object" || given === null || !("tables" in given)) return given;
  return { ...given, tables: strings.whole(given.tables) };
}

class Contents implements ContentSource {
  readonly #entries: ReadonlyMap<string, ConversationArchive["contents"][number]>;
  readonly #strings: LongStrings | null;

  constructor({ contents }: ConversationArchive, strings: LongStrings | null) {
    this.#entries = new Map(contents.map((one) => [one.sha256, one]));
    this.#strings = strings;
    for (const { sha256 } of contents) {
      const hash = createHash("sha256");
      for (const piece of this.pieces(sha256)) hash.update(piece);
      if (hash.digest("hex") !== sha256) throw refused(`text ${sha256} does not have this hash`);
    }
  }

  get(hash: string): Uint8Array<ArrayBuffer> | undefined {
    if (!this.#entries.has(hash)) return undefined;
    return new Uint8Array(Buffer.concat([...this.pieces(hash)]));
  }

  *pieces(hash: string): Generator<Uint8Array<ArrayBuffer>> {
    const entry = this.#entries.get(hash);
    if (entry === undefined) return;
    const strings = (one: string): Iterable<string> => this.#strings?.pieces(one) ?? [one];
    if ("text" in entry) {
      for (const piece of strings(entry.text)) yield new TextEncoder().encode(piece);
      return;
    }
    for (const one of entry.base64) {
      let rest = "";
      for (const piece of strings(one)) {
        rest += piece;
        const end = rest.length - rest.length % 4;
        yield bytesOf(rest.slice(0, end));
        rest = rest.slice(end);
      }
      yield bytesOf(rest);
    }
  }
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(base64, "base64"));
}

function checkStates(tables: Tables, contents: Contents): void {
  const souls = new Map(tables.expressionSoul.map((soul) => [soul.id, soul]));
  const decoded = new Set<string>();
  for (const soul of tables.expressionSoul) {
    if ((soul.kind === "var") !== (soul.name !== null)) {
      throw refused(`row ${soul.id} has a name that does not match its kind`);
    }
    if ((soul.kind === "var") !== (soul.stateMode === "stateful")) {
      throw refused(`row ${soul.id} has a mode that does not match its kind`);
    }
  }
  for (const state of tables.expressionState) {
    const isVariable = souls.get(state.expressionSoulId)?.kind === "var";
    if (isVariable !== "kind" in state.metadata) throw refused(`row ${state.id} has the metadata of another kind`);
    if (isVariable && state.error !== null) throw refused(`row ${state.id} is a variable, but has an error`);
    checkValue(state, { contents, decoded });
  }
}

function checkValue(
  { id, result, metadata }: State,
  { contents, decoded }: { readonly contents: Contents; readonly decoded: Set<string> },
): void {
  const large = "large" in metadata && metadata.large !== undefined;
  if (large && (result === null || !("content" in result) || metadata.large !== `sha256:${result.content}`)) {
    throw refused(`row ${id} refers to another text than its value`);
  }
  if (result === null || large) return;
  const valueBytes = (): Uint8Array<ArrayBuffer> =>
    "content" in result ? wanted(contents, result.content) : new Uint8Array(Buffer.from(result.base64, "base64"));
  const crc = "crc" in metadata ? metadata.crc : undefined;
  if (crc !== undefined && crc !== crc32(valueBytes())) {
    throw refused(`the checksum of the value of row ${id} does not match`);
  }
  if ("kind" in metadata && metadata.kind === "text") return;
  const key = "content" in result ? result.content : result.base64;
  if (decoded.has(key)) return;
  decoded.add(key);
  const bytes = valueBytes();
  try {
    decode(bytes);
  } catch (error) {
    throw refused(`Vis cannot decode the value of row ${id}`, { cause: error });
  }
}

function checkTexts({ iteration, querySoul, extensionState }: Tables, contents: Contents): void {
  const textOf = (cell: string | { readonly content: string }): string =>
    typeof cell === "string" ? cell : new TextDecoder().decode(wanted(contents, cell.content));
  for (const { id, value } of extensionState) {
    if (value !== null && jsonOrUndefined(textOf(value)) === undefined) {
      throw refused(`the state of row ${id} is not JSON`);
    }
  }
  for (const { id, llmUserPrompt } of iteration) {
    if (llmUserPrompt === null) continue;
    const text = textOf(llmUserPrompt);
    if (!sentMessages.safeParse(jsonOrUndefined(text)).success) {
      throw refused(`the messages of row ${id} are not a list of messages`);
    }
  }
  for (const { id, metadata: { answerSchema } } of querySoul) {
    if (answerSchema !== undefined && jsonOrUndefined(answerSchema) === undefined) {
      throw refused(`the answer schema of row ${id} is not JSON`);
    }
  }
}

function checkBranches(
  { conversationState, conversationSoul, childBranch, querySoul, queryState, iteration }: Tables,
): void {
  const branches = new Map(conversationState.map((branch) => [branch.id, branch]));
  const queries = new Map(querySoul.map((query) => [query.id, query]));
  const runs = new Map(queryState.map((run) => [run.id, run]));
  const branchOfRun = (run: string) => queries.get(runs.get(run)?.querySoulId ?? "")?.conversationStateId;
  for (const { id, parentStateId, conversationSoulId, version, metadata: { fork } } of conversationState) {
    if (conversationSoulId !== conversationSoul[0]?.id) throw refused(`branch ${id} belongs to another conversation`);
    if ((parentStateId === null) !== (fork === undefined)) {
      throw refused(`branch ${id} has a fork that does not match its parent`);
    }
    if (parentStateId === null || fork === undefined) continue;
    const parent = branches.get(parentStateId);
    const query = queries.get(fork.soulId);
    const fits = parent !== undefined && parent.version < version && branchOfRun(fork.queryId) === parentStateId &&
      runs.get(fork.queryId)?.querySoulId === fork.soulId && query?.createdAt === fork.soulCreatedAt;
    if (!fits) throw refused(`the fork of branch ${id} does not fit its parent`);
  }
  const asked = new Map(iteration.map(({ id, queryStateId }) => [id, branchOfRun(queryStateId)]));
  const above = new Map(childBranch.map((child) => [child.conversationStateId, asked.get(child.iterationId)]));
  if (conversationState.every(({ id }) => above.has(id))) throw refused("every branch belongs to a sub-query");
  for (const id of above.keys()) {
    let at: string | undefined = id;
    for (let depth = 0; at !== undefined && above.has(at); depth++) {
      if (depth > MAX_CHILD_DEPTH) {
        throw refused(`the sub-query in branch ${id} has more than ${MAX_CHILD_DEPTH} levels above it, or a cycle`);
      }
      at = above.get(at);
    }
  }
}

function wanted(contents: Contents, hash: string): Uint8Array<ArrayBuffer> {
  const found = contents.get(hash);
  if (!found) throw refused(`text ${hash} is missing`);
  return found;
}

const AGAIN = "export the conversation again";

function refused(
  why: string,
  { wayOut = AGAIN, cause }: { readonly wayOut?: string; readonly cause?: unknown } = {},
): UsageError {
  return new UsageError(`Cannot import the conversation: ${why}; ${wayOut}`, { cause });
}

type Metadata = Tables["expressionState"][number]["metadata"];

type Facts = Extract<Metadata, { readonly kind: string; readonly requires: readonly string[] }>;

export interface ArchiveCode {
  readonly functions: readonly string[];
  readonly classes: readonly string[];
}

export function archiveCode({ expressionSoul, expressionState }: Tables): ArchiveCode {
  const souls = new Map(expressionSoul.map(({ id, name }) => [id, name ?? ""]));
  const functions = new Set<string>(), classes = new Set<string>();
  for (const { expressionSoulId, expr, metadata } of expressionState) {
    if (!isCode(metadata)) continue;
    const { kind, source = expr ?? "", summary } = metadata, name = souls.get(expressionSoulId) ?? "";
    const fault = restoredFault({ name, kind, source, summary });
    if (fault !== null) {
      throw new UsageError(
        `Cannot import the conversation: Vis would run unsafe code to restore variable ${name} (${fault})`,
      );
    }
    (kind === "function" ? functions : classes).add(name);
  }
  return { functions: [...functions].sort(), classes: [...classes].sort() };
}

function isCode(metadata: Metadata): metadata is Facts & { readonly kind: "function" | "class" } {
  return "kind" in metadata && (metadata.kind === "function" || metadata.kind === "class");
}

const QUOTE = 34, BACKSLASH = 92;

const LONG_BYTES = 16 * 1024;

const READ_BYTES = 64 * 1024;
const DIGITS = 16;

/** A temporary file keeps the long strings of a JSON text. In the text, a short, unpredictable string replaces each of
 * them. */
export class LongStrings implements Disposable {
  /** The token is valid base64, so that it can replace a text or a base64 string. */
  readonly #token = crypto.randomUUID().replaceAll("-", "");
  readonly #kept: Uint8Array[] = [];
  #file: Deno.FsFile | null = null;
  #fileBytes = 0;

  static async of(source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<LongStrings> {
    const strings = new LongStrings();
    try {
      await strings.#read(source);
    } catch (error) {
      strings[Symbol.dispose]();
      throw error;
    }
    return strings;
  }

  get text(): string {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    return this.#kept.map((piece) => decoder.decode(piece, { stream: true })).join("") + decoder.decode();
  }

  *pieces(string: string): Generator<string> {
    const place = this.#placeOf(string);
    if (place === null) return yield string;
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    let text = "";
    for (const piece of this.#raw(place)) {
      text += decoder.decode(piece, { stream: true });
      const end = endOfWhole(text);
      yield unescaped(text.slice(0, end));
      text = text.slice(end);
    }
    yield unescaped(text + decoder.decode());
  }

  whole<T>(value: T): T {
    if (typeof value === "string") return [...this.pieces(value)].join("") as T;
    if (Array.isArray(value)) return value.map((one) => this.whole(one)) as T;
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.whole(one)])) as T;
  }

  [Symbol.dispose](): void {
    this.#file?.close();
    this.#file = null;
  }

  async #read(source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    let held: Uint8Array[] = [];
    let length = 0, from = -1, inString = false, escaped = false;
    const add = async (piece: Uint8Array): Promise<void> => {
      if (from < 0) {
        held.push(piece);
        length += piece.length;
        if (length <= LONG_BYTES) return;
        from = this.#fileBytes;
        for (const one of held) await this.#write(one);
        held = [];
      } else await this.#write(piece);
    };
    for await (const block of source) {
      for (let at = 0; at < block.length;) {
        if (!inString) {
          const quote = block.indexOf(QUOTE, at);
          const end = quote < 0 ? block.length : quote + 1;
          this.#kept.push(block.slice(at, end));
          inString = quote >= 0;
          at = end;
          continue;
        }
        let end = at;
        for (; end < block.length; end++) {
          const byte = block[end];
          if (escaped) escaped = false;
          else if (byte === BACKSLASH) escaped = true;
          else if (byte === QUOTE) break;
        }
        await add(block.slice(at, end));
        at = end;
        if (end === block.length) continue;
        const digits = (n: number) => String(n).padStart(DIGITS, "0");
        if (from < 0) this.#kept.push(...held);
        else this.#kept.push(Buffer.from(`${this.#token}${digits(from)}${digits(this.#fileBytes - from)}`));
        this.#kept.push(new Uint8Array([QUOTE]));
        held = [];
        length = 0;
        from = -1;
        inString = false;
        at++;
      }
    }
    this.#kept.push(...held);
  }

  async #write(bytes: Uint8Array): Promise<void> {
    this.#file ??= await unnamedFile();
    for (let at = 0; at < bytes.length;) at += await this.#file.write(bytes.subarray(at));
    this.#fileBytes += bytes.length;
  }

  #placeOf(string: string): { readonly from: number; readonly length: number } | null {
    const { length } = this.#token;
    if (string.length !== length + 2 * DIGITS || !string.startsWith(this.#token)) return null;
    return { from: Number(string.slice(length, length + DIGITS)), length: Number(string.slice(length + DIGITS)) };
  }

  *#raw({ from, length }: { readonly from: number; readonly length: number }): Generator<Uint8Array> {
    for (let at = 0; at < length;) {
      const bytes = new Uint8Array(Math.min(READ_BYTES, length - at));
      this.#file?.seekSync(from + at, Deno.SeekMode.Start);
      const read = this.#file?.readSync(bytes) ?? 0;
      if (read === 0) {
        throw new Error("Cannot read the archive: its temporary file ended early; import the archive again");
      }
      at += read;
      yield bytes.subarray(0, read);
    }
  }
}

function unescaped(text: string): string {
  return JSON.parse(`"${text}"`);
}

function endOfWhole(text: string): number {
  for (let at = 0;;) {
    const next = text.indexOf("\\", at);
    if (next < 0) break;
    const length = text[next + 1] === "u" ? 6 : 2;
    const isHigh = length === 6 && /^\\u[dD][89abAB]/.test(text.slice(next, next + 4));
    if (next + length > text.length || (isHigh && next + 12 > text.length)) return next;
    at = next + length;
  }
  return /[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length;
}
