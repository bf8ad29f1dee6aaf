import assert from "node:assert/strict";
import { join } from "node:path";
import { descendants, type Seen } from "./helpers/processes.ts";
import type { Running, User } from "./helpers/user.ts";

export const ENDLESS = 'const begun = await fs.writeFile("mark", "x")\nawait new Promise(() => {})';

/** Waits until the endless block runs. Returns the processes below the program. */
export async function inBlock(user: User, running: Running): Promise<readonly Seen[]> {
  const mark = join(user.workspace, "mark");
  await running.until("block that runs", () => Deno.stat(mark).then(() => true, () => false));
  const seen = descendants(running.pid);
  assert.ok(seen.length > 0, "the sandbox is a child process");
  return seen;
}
