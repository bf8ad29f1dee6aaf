/** A process that waits for the setup of a child, in its folder. */
export interface FirstChild {
  readonly process: Deno.ChildProcess;
  readonly folder: string;
}

export const FOLDER_PREFIX = "vis-sandbox-";
/** The entry of the executable and the program have a copy of this file each. */
const PLACE = Symbol.for("vis.firstChild");

/** Keeps the child that was started before the program, for the first sandbox. */
export function keepFirstChild(child: FirstChild): void {
  Reflect.set(globalThis, PLACE, child);
}

/** The first child, once; null if there is none. */
export function takeFirstChild(): FirstChild | null {
  const child: FirstChild | undefined = Reflect.get(globalThis, PLACE);
  Reflect.deleteProperty(globalThis, PLACE);
  return child ?? null;
}

/** Ends the first child if nobody has taken it. */
export function endFirstChild(): void {
  const child = takeFirstChild();
  if (child === null) return;
  try {
    child.process.kill("SIGKILL");
    Deno.removeSync(child.folder);
  } catch { /* it has ended, or a later start sweeps the folder */ }
}
