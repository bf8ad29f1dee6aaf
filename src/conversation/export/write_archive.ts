import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { visibleText } from "../../domain/kit/text.ts";
import type { ArchivePart, ConversationArchive } from "../../persistence/archive_schema.ts";

/** The number is a multiple of 3, so that each piece alone is valid base64. */
const BASE64_AT_ONCE = 48 * 1024;

const BASE64_STRING = BASE64_AT_ONCE * 64;

const KEPT_BYTES = 1 << 20;

const TEXT_AT_ONCE = 64 * 1024;

type Write = (text: string) => Promise<void>;

type Content = Extract<ArchivePart, { readonly sha256: string }>;

export async function writeArchive(
  parts: (take: (part: ArchivePart) => Promise<void>) => Promise<void>,
  write: Write,
): Promise<void> {
  const digest = new ArchiveDigest();
  const state = { table: "", items: 0, inContents: false };
  const item = async (indent: string): Promise<void> => {
    await write(`${state.items++ === 0 ? "" : ","}\n${indent}`);
  };
  const endTable = async (): Promise<void> => {
    if (state.table !== "") await write(state.items === 0 ? "]" : "\n    ]");
  };
  const beginContents = async (): Promise<void> => {
    if (state.inContents) return;
    await endTable();
    await write(`\n  },\n  "contents": [`);
    Object.assign(state, { items: 0, inContents: true });
  };
  await parts(async (part) => {
    if ("format" in part) {
      await write(`{\n  "format": ${json(part.format)},\n  "version": ${json(part.version)},\n  "tables": {`);
    } else if ("table" in part) {
      await endTable();
      await write(`${state.table === "" ? "" : ","}\n    ${json(part.table)}: [`);
      Object.assign(state, { table: part.table, items: 0 });
    } else if ("row" in part) {
      digest.row(state.table, part.row);
      await item("      ");
      await write(json(part.row));
    } else {
      await beginContents();
      digest.content(part.sha256);
      await item("    ");
      await writeContent(part, write);
    }
  });
  await beginContents();
  await write(`${state.items === 0 ? "" : "\n  "}],\n  "sha256": ${json(digest.end())}\n}\n`);
}

async function writeContent(content: Content, write: Write): Promise<void> {
  const { sha256 } = content;
  const { isText, pieces } = await kindOf(content);
  await write(`{"sha256":${json(sha256)},`);
  if (isText) {
    await write(`"text":"`);
    const decoder = textDecoder();
    for await (const piece of split(pieces, TEXT_AT_ONCE)) {
      await write(json(decoder.decode(piece, { stream: true })).slice(1, -1));
    }
    return await write(`"}`);
  }
  await write(`"base64":[`);
  let at = 0;
  for await (const piece of whole(pieces, BASE64_AT_ONCE)) {
    const isNew = at % BASE64_STRING === 0;
    await write(`${isNew ? at === 0 ? `"` : `","` : ""}${Buffer.from(piece).toString("base64")}`);
    at += piece.length;
  }
  await write(`${at === 0 ? "" : `"`}]}`);
}

async function kindOf({ pieces }: Content): Promise<{ readonly isText: boolean; readonly pieces: Pieces }> {
  const kept: Uint8Array[] = [];
  const decoder = textDecoder();
  let isText = true, bytes = 0;
  for await (const piece of pieces()) {
    bytes += piece.length;
    if (bytes <= KEPT_BYTES) kept.push(piece);
    else if (!isText) break;
    isText &&= decodes(() => decoder.decode(piece, { stream: true }));
  }
  isText &&= decodes(() => decoder.decode());
  return { isText, pieces: bytes <= KEPT_BYTES ? kept : pieces() };
}

type Pieces = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

function decodes(work: () => string): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}

async function* split(pieces: Pieces, size: number): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    for (let from = 0; from < piece.length; from += size) yield piece.subarray(from, from + size);
  }
}

async function* whole(pieces: Pieces, size: number): AsyncGenerator<Uint8Array> {
  let rest = new Uint8Array();
  for await (const piece of pieces) {
    const bytes = rest.length === 0 ? piece : new Uint8Array(Buffer.concat([rest, piece]));
    let from = 0;
    for (; from + size <= bytes.length; from += size) yield bytes.subarray(from, from + size);
    rest = bytes.slice(from);
  }
  if (rest.length > 0) yield rest;
}

function textDecoder(): TextDecoder {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
}

function json(value: unknown): string {
  return visibleText(JSON.stringify(value));
}

/** The hash covers parsed rows, so white space and escapes of the file have no effect. */
export class ArchiveDigest {
  static of({ tables, contents }: Pick<ConversationArchive, "tables" | "contents">): string {
    const digest = new ArchiveDigest();
    for (const [name, rows] of Object.entries(tables)) for (const row of rows) digest.row(name, row);
    for (const { sha256 } of contents) digest.content(sha256);
    return digest.end();
  }

  readonly #hash = createHash("sha256");

  row(table: string, row: unknown): void {
    this.#hash.update(`${table} ${JSON.stringify(row)}\n`);
  }

  content(sha256: string): void {
    this.#hash.update(`${sha256}\n`);
  }

  end(): string {
    return this.#hash.digest("hex");
  }
}
