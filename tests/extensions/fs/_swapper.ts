/** A worker that replaces every temporary file of a folder by a link to a file elsewhere, until it is asked to stop. */
interface Swap {
  readonly folder: string;
  readonly target: string;
  readonly stop: SharedArrayBuffer;
}

const port = globalThis as unknown as {
  onmessage: (event: MessageEvent<Swap>) => void;
  postMessage(message: string): void;
};

port.onmessage = ({ data: { folder, target, stop } }) => {
  const flag = new Int32Array(stop);
  while (Atomics.load(flag, 0) === 0) {
    for (const { name } of Deno.readDirSync(folder)) {
      if (!name.startsWith(".vis-")) continue;
      try {
        Deno.removeSync(`${folder}/${name}`);
        Deno.symlinkSync(target, `${folder}/${name}`);
      } catch { /* The file was renamed meanwhile. */ }
    }
  }
  port.postMessage("done");
};
