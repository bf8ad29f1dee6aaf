import type { AskOptions } from "../../../conversation/send_options.ts";
import { UsageError } from "../../../domain/errors.ts";
import { type Image, MAX_IMAGE_BYTES, readImage } from "../../../domain/images.ts";
import type { BotApi } from "../api/bot_api.ts";
import type { IncomingFile } from "../inbound/incoming.ts";
import type { Outbox } from "../outbound/outbox.ts";

/** The download limit of the Bot API. */
const MAX_BYTES = 20 * 1024 * 1024;

export type Attachments = Required<Pick<AskOptions, "images" | "variables">>;

/** The files of a message: images for the model, documents as the variables `context`, `context2` and so on. Rejects
 * with `UsageError` for files that are too large or cannot be used, and like `BotApi`. */
export async function readAttachments(
  files: readonly IncomingFile[],
  { api, outbox, chat, signal }: {
    readonly api: BotApi;
    readonly outbox: Outbox;
    readonly chat: number;
    readonly signal: AbortSignal;
  },
): Promise<Attachments> {
  const images: Image[] = [];
  const variables: Record<string, NonNullable<AskOptions["context"]>> = {};
  for (const file of files) {
    const { name, kind } = file;
    const limit = kind === "image" ? MAX_IMAGE_BYTES : MAX_BYTES;
    if (file.bytes !== null && file.bytes > limit) throw tooLarge(file, limit);
    const bytes = await outbox.must(
      chat,
      (closing) => fetched(file, { api, limit, signal: AbortSignal.any([signal, closing]) }),
    );
    if (kind === "image") images.push(readImage(bytes, name));
    else {
      const taken = Object.keys(variables).length;
      variables[taken === 0 ? "context" : `context${taken + 1}`] = {
        label: name,
        json: /\.json$/i.test(name),
        pieces: ReadableStream.from([bytes]),
      };
    }
  }
  return { images, variables };
}

async function fetched(
  file: IncomingFile,
  { api, limit, signal }: { readonly api: BotApi; readonly limit: number; readonly signal: AbortSignal },
): Promise<Uint8Array<ArrayBuffer>> {
  const found = await api.call((wire, own) => wire.getFile({ file_id: file.fileId }, own), { signal });
  if ((found.file_size ?? 0) > limit) throw tooLarge(file, limit);
  if (!found.file_path) throw new UsageError(`Cannot read ${file.name}: Telegram does not provide it`);
  return await api.download(found.file_path, { signal, maxBytes: limit });
}

function tooLarge({ name, bytes }: IncomingFile, limit: number): UsageError {
  const size = bytes === null ? "it is" : `${megabytes(bytes)} MB,`;
  return new UsageError(`Cannot read ${name}: ${size} over the limit of ${megabytes(limit)} MB`);
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1).replace(/\.0$/, "");
}
