import { closeSync, constants, openSync, readSync } from "node:fs";

/** Drops the lines that were typed on the terminal but not read yet; false if this terminal cannot do it. A line without
 * its end stays in the editor of the terminal, where the user sees it. */
export function dropTyped(): boolean {
  let terminal: number | null = null;
  try {
    terminal = openSync("/dev/tty", constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    const buffer = new Uint8Array(4096);
    while (readSync(terminal, buffer) > 0);
    return true;
  } catch {
    // Nothing more is there, or no such terminal.
    return terminal !== null;
  } finally {
    if (terminal !== null) closeSync(terminal);
  }
}
