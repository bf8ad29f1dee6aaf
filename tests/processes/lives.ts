const RUN = String(Math.random()).slice(2, 10);

/** Returns a command that sleeps for about this many seconds, with a number that no other test or run uses. */
export function longSleep(seconds: number): string {
  return `sleep ${seconds}.${RUN}`;
}

/** Returns whether a process lives whose command line ends with these words. */
export function lives(commandLine: string): boolean {
  const wanted = `${commandLine.replaceAll(" ", "\0")}\0`;
  return processes((it) => it.endsWith(wanted)).length > 0;
}

/** Returns whether a process runs a command or is about to. The command line of a shell contains the command. */
export function isNamed(command: string): boolean {
  return naming(command).length > 0;
}

/** Ends the processes that run a command or are about to. Returns false if there were none. */
export function killed(command: string): boolean {
  const found = naming(command);
  for (const pid of found) {
    try {
      Deno.kill(pid, "SIGKILL");
    } catch { /* The process ended meanwhile. */ }
  }
  return found.length > 0;
}

function naming(command: string): readonly number[] {
  return processes((it) => it.replaceAll("\0", " ").includes(command));
}

function processes(isWanted: (commandLine: string) => boolean): readonly number[] {
  return [...Deno.readDirSync("/proc")].map(({ name }) => Number(name)).filter((pid) => {
    try {
      return pid > 0 && isWanted(Deno.readTextFileSync(`/proc/${pid}/cmdline`));
    } catch {
      return false;
    }
  });
}
