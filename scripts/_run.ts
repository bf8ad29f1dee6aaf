export interface Finished {
  readonly code: number;
  readonly stderr: string;
}

/** Runs this Deno, or `program`, in `cwd`. Returns stderr instead of showing it and drops stdout, so that a script
 * prints only its result. */
export async function run(
  args: readonly string[],
  options: { readonly cwd: string; readonly program?: string; readonly env?: Readonly<Record<string, string>> },
): Promise<Finished> {
  const { cwd, program = Deno.execPath() } = options;
  const { code, stderr } = await new Deno.Command(program, {
    args: [...args],
    cwd,
    env: { NO_COLOR: "1", RUST_BACKTRACE: "0", RUST_LIB_BACKTRACE: "0", ...options.env },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  return { code, stderr: new TextDecoder().decode(stderr) };
}
