import { Buffer } from "node:buffer";
import { BusyError, fileFault, UsageError } from "../../domain/errors.ts";
import { Semaphore } from "../../domain/kit/concurrency.ts";
import { MAX_ARCHIVE_BYTES } from "../../domain/records/conversations.ts";
import type { PagedRecording } from "../../domain/records/recording.ts";
import type { ArchivePart } from "../../persistence/archive_schema.ts";
import type { Branch } from "../../persistence/store.ts";

const IN_MEMORY_BYTES = 1 << 20;

const READ_BYTES = 64 * 1024;

const MOST_OPEN = 32;

/** The caller must dispose of the export, which closes its temporary file. */
export interface Exported extends AsyncDisposable {
  readonly bytes: number;
  pieces(): AsyncIterable<Uint8Array<ArrayBuffer>>;
}

interface Readable {
  paged(branch: Branch): Promise<PagedRecording>;
  readonly stored: { exportConversation(id: string, take: (part: ArchivePart) => Promise<void>): Promise<void> };
}

export type ExportFormat = "json" | "md" | "html";

export class Exports {
  readonly #turns = new Semaphore();
  readonly #archiveBytes: number;
  #open = 0;

  constructor({ archiveBytes = MAX_ARCHIVE_BYTES } = {}) {
    this.#archiveBytes = archiveBytes;
  }

  async make(branch: Branch, { signal, ...how }: {
    readonly conversations: Readable;
    readonly format: ExportFormat;
    readonly branches?: readonly string[];
    readonly signal?: AbortSignal;
  }): Promise<Exported> {
    if (this.#open >= MOST_OPEN) {
      throw new BusyError(
        `Cannot export the conversation: ${MOST_OPEN} exports are open, the limit; try again later`,
      );
    }
    this.#open++;
    const spool = new Spool(how.format === "json" ? this.#archiveBytes : Infinity);
    const end = (): Promise<void> => {
      if (spool.close()) this.#open--;
      return Promise.resolve();
    };
    try {
      await this.#turns.run(() => writeExport(branch, { ...how, write: (text) => spool.write(text, signal) }), signal);
    } catch (error) {
      await end();
      throw error;
    }
    return { bytes: spool.bytes, pieces: () => spool.pieces(), [Symbol.asyncDispose]: end };
  }
}

async function writeExport(
  branch: Branch,
  { conversations, format, branches = [], write }: {
    readonly conversations: Readable;
    readonly format: ExportFormat;
    readonly branches?: readonly string[];
    readonly write: (text: string) => Promise<void>;
  },
): Promise<void> {
  if (format === "json") {
    const { writeArchive } = await import("./write_archive.ts");
    return await writeArchive((take) => conversations.stored.exportConversation(branch.conversationId, take), write);
  }
  const recording = await conversations.paged(branch);
  const pieces = format === "md"
    ? (await import("./markdown.ts")).exportMarkdown(recording, { branches })
    : (await import("./html.ts")).exportHtml(recording, { branches });
  for await (const piece of pieces) await write(piece);
}

class Spool {
  readonly #limit: number;
  #kept: Uint8Array<ArrayBuffer>[] = [];
  #keptBytes = 0;
  #file: Deno.FsFile | null = null;
  #inFile = 0;
  #isOpen = true;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get bytes(): number {
    return this.#inFile + this.#keptBytes;
  }

  async write(text: string, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    const bytes = new TextEncoder().encode(text);
    if (this.bytes + bytes.length > this.#limit) {
      throw new UsageError(
        `Cannot export the conversation: it is larger than ${this.#limit >> 20} MiB, the limit; back up the database ` +
          "instead",
      );
    }
    this.#kept.push(bytes);
    this.#keptBytes += bytes.length;
    if (this.#keptBytes > IN_MEMORY_BYTES) await this.#spill();
  }

  async *pieces(): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    for (let at = 0; this.#file && at < this.#inFile;) {
      await this.#file.seek(at, Deno.SeekMode.Start);
      const piece = new Uint8Array(READ_BYTES);
      const read = await this.#file.read(piece) ?? 0;
      if (read === 0) {
        throw new Error("Cannot read the export: its temporary file ended early; export the conversation again");
      }
      at += read;
      yield piece.subarray(0, read);
    }
    yield* this.#kept;
  }

  close(): boolean {
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    this.#kept = [];
    this.#file?.close();
    this.#file = null;
    return wasOpen;
  }

  async #spill(): Promise<void> {
    try {
      this.#file ??= await unnamedFile();
      const bytes = Buffer.concat(this.#kept);
      for (let at = 0; at < bytes.length;) at += await this.#file.write(bytes.subarray(at));
      this.#inFile += bytes.length;
    } catch (error) {
      throw new UsageError(
        `Cannot write the temporary file of the export: ${fileFault(error)}; set ${
          Deno.build.os === "windows" ? "TMP" : "TMPDIR"
        } to another folder`,
      );
    }
    this.#kept = [];
    this.#keptBytes = 0;
    // SQLite reads rows synchronously, so this pause lets other requests run.
    await new Promise((go) => setTimeout(go));
  }
}

/** Except on Windows, the file has no name, so the system removes the file when the process ends. */
export async function unnamedFile(): Promise<Deno.FsFile> {
  const path = await Deno.makeTempFile({ prefix: "vis-export-" });
  const file = await Deno.open(path, { read: true, write: true });
  await Deno.remove(path).catch(() => {}); // Windows refuses to remove an open file.
  return file;
}
