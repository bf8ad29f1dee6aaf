import type { Io, Services } from "../../channel.ts";

/** Input of a command about stored data. */
export interface StoredCommand<Flags> {
  readonly services: Services;
  readonly io: Io;
  readonly flags: Flags & { readonly db?: string | undefined };
}
