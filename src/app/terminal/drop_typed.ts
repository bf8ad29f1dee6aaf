import { closeSync, constants, openSync, readSync } from "node:fs";

/** Drops the lines that were typed on the terminal but not read yet. A line without its end stays in the editor of the
 * terminal, where the user sees it. */
export function dropTyped(): void {
  let terminal: number | null = null;
  try {
    terminal = openSync("/dev/tty", constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    const buffer = new Uint8Array(4096);
    while (readSync(terminal, buffer) > 0);
  } catch {
    // Nothing more is there, or no such terminal.
  } finally {
    if (terminal !== null) closeSync(terminal);
  }
}
