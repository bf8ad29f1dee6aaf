/** Editors write a file in several steps. */
const QUIET_MS = 100;

/** Gives the turn once changes below a folder have settled. */
export async function* folderChanges(folder: string): AsyncGenerator<void> {
  using watcher = Deno.watchFs(folder);
  let wake = Promise.withResolvers<void>();
  let quiet: ReturnType<typeof setTimeout> | undefined;
  const reading = (async () => {
    for await (const { kind } of watcher) {
      if (kind === "access") continue;
      clearTimeout(quiet);
      quiet = setTimeout(() => wake.resolve(), QUIET_MS);
    }
  })();
  try {
    for (;;) {
      await wake.promise;
      wake = Promise.withResolvers();
      yield;
    }
  } finally {
    clearTimeout(quiet);
    watcher.close();
    await reading;
  }
}
