const RUN = String(Math.random()).slice(2, 10);

/** A command that sleeps for about so many seconds, as no other file of tests and no other run of them does. */
export function longSleep(seconds: number): string {
  return `sleep ${seconds}.${RUN}`;
}

/** Whether a process lives whose command line ends with these words. */
export function lives(commandLine: string): boolean {
  const wanted = `${commandLine.replaceAll(" ", "\0")}\0`;
  return processes((it) => it.endsWith(wanted)).length > 0;
}

/** Whether a process runs a command or is about to: a shell has its text. */
export function isNamed(command: string): boolean {
  return naming(command).length > 0;
}

/** Ends the processes that run a command or are about to. Returns whether there were any. */
export function killed(command: string): boolean {
  const found = naming(command);
  for (const pid of found) {
    try {
      Deno.kill(pid, "SIGKILL");
    } catch { /* ended meanwhile */ }
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
