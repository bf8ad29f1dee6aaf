import type { Io, Services } from "../../channel.ts";

/** What a command needs besides its flags. */
export interface Context {
  readonly services: Services;
  readonly io: Io;
  /** Told by the command that ran. */
  finish(code: number): void;
}
