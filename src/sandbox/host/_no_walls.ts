import type { Walls } from "../sandbox.ts";

/** The walls of a child that is not ready. */
export const NO_WALLS: Walls = {
  realm: false,
  permissions: false,
  process: false,
  kernel: { landlock: 0, seccomp: false },
  failed: [],
};
