export interface Finished {
  readonly code: number;
  readonly stderr: string;
}

/** Runs this Deno, or `program`, in `cwd`. Its stdout goes to our stderr, so that a result can be printed alone; its
 * stderr is returned and, unless `quiet`, shown when it is complete. */
export async function run(
  args: readonly string[],
  options: { readonly cwd: string; readonly program?: string; readonly quiet?: boolean },
): Promise<Finished> {
  const { cwd, program = Deno.execPath(), quiet = false } = options;
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args: [...args],
    cwd,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  const text = new TextDecoder().decode(stderr);
  if (!quiet) Deno.stderr.writeSync(new Uint8Array([...stdout, ...stderr]));
  return { code, stderr: text };
}
