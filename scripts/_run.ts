export interface Finished {
  readonly code: number;
  readonly stderr: string;
}

/** A script prints only its own result, so stdout is dropped and stderr is returned. */
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
