import type { Io, Services } from "../../channel.ts";

/** What a command works with; `flags` are the options of its command line. */
export interface CommandInput<Flags> {
  readonly services: Services;
  readonly io: Io;
  readonly flags: Flags;
}

/** Input of a command about stored data. */
export type StoredCommand<Flags> = CommandInput<Flags & { readonly db?: string | undefined }>;
