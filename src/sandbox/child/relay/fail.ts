/** Ends the child; the reason reaches the main process through stderr. */
export function fail(why: string): never {
  Deno.stderr.writeSync(new TextEncoder().encode(`${why.slice(0, 500)}\n`));
  Deno.exit(1);
}
