import type { Io, Services } from "../../channel.ts";

/** What a command about something stored is given. */
export interface StoredCommand<Flags> {
  readonly services: Services;
  readonly io: Io;
  readonly flags: Flags & { readonly db?: string | undefined };
}
