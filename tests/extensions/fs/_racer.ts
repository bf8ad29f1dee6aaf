/** The milliseconds of each state, in turn. A change takes several looks at the folder, and some must also see the
 * folder. */
const FOLDER = [0, 0.2, 3, 0.5, 12], LINK = [0, 0.2, 1];

/** A worker that replaces a folder by a link and restores it, as fast as it can, until it is asked to stop. */
interface Race {
  readonly folder: string;
  readonly target: string;
  readonly stop: SharedArrayBuffer;
}

const port = globalThis as unknown as {
  onmessage: (event: MessageEvent<Race>) => void;
  postMessage(turns: number): void;
};

port.onmessage = ({ data: { folder, target, stop } }) => {
  const flag = new Int32Array(stop);
  const aside = `${folder}.aside`;
  let turns = 0;
  port.postMessage(0);
  while (Atomics.load(flag, 0) === 0) {
    try {
      Deno.renameSync(folder, aside);
      Deno.symlinkSync(target, folder);
      Atomics.wait(flag, 0, 0, LINK[turns % LINK.length]);
      Deno.removeSync(folder);
      Deno.renameSync(aside, folder);
    } catch {
      // Another folder has its place meanwhile, so both move away.
      try {
        if (Deno.lstatSync(folder).isSymlink) Deno.removeSync(folder);
        else if (exists(aside)) Deno.removeSync(folder, { recursive: true });
      } catch { /* The entry was removed meanwhile. */ }
      if (exists(aside) && !exists(folder)) Deno.renameSync(aside, folder);
    }
    Atomics.wait(flag, 0, 0, FOLDER[turns % FOLDER.length]);
    turns++;
  }
  port.postMessage(turns);
};

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
