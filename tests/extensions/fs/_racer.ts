/** Milliseconds that each state lasts, in turn: a change takes several looks at the folder, which should also meet
 * it. */
const FOLDER = [0, 0.2, 3, 0.5, 12], LINK = [0, 0.2, 1];

/** A worker that makes a folder a link to another one and back, as fast as it can, until it is told to stop. */
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
      // A folder was made in its place meanwhile: out of the way with it.
      try {
        if (Deno.lstatSync(folder).isSymlink) Deno.removeSync(folder);
        else if (exists(aside)) Deno.removeSync(folder, { recursive: true });
      } catch { /* gone */ }
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
