import type { Io, Services } from "../../channel.ts";

/** Dependencies of a command. */
export interface Context {
  readonly services: Services;
  readonly io: Io;
  /** Called by the command with its exit code. */
  finish(code: number): void;
}
