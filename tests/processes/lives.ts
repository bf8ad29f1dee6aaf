const RUN = String(Math.random()).slice(2, 10);

/** A command that sleeps for about so many seconds, as no other file of tests and no other run of them does. */
export function longSleep(seconds: number): string {
  return `sleep ${seconds}.${RUN}`;
}

/** Whether a process lives whose command line ends with these words. */
export function lives(commandLine: string): boolean {
  return lastOf(commandLine).length > 0;
}

/** Ends those processes. Returns whether there were any. */
export function killed(commandLine: string): boolean {
  const found = lastOf(commandLine);
  for (const pid of found) {
    try {
      Deno.kill(pid, "SIGKILL");
    } catch { /* ended meanwhile */ }
  }
  return found.length > 0;
}

function lastOf(commandLine: string): readonly number[] {
  const wanted = `${commandLine.replaceAll(" ", "\0")}\0`;
  return [...Deno.readDirSync("/proc")].map(({ name }) => Number(name)).filter((pid) => {
    try {
      return pid > 0 && Deno.readTextFileSync(`/proc/${pid}/cmdline`).endsWith(wanted);
    } catch {
      return false;
    }
  });
}
