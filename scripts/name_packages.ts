/** Where the bundler names a file in Deno's cache, its package: `npm:zod@4.6.7/v4/core/api.js` in place of a path of the
 * machine that builds, which would be in every executable. */
export function namePackages(code: string): string {
  return code.replace(
    /^(\/\/ |\s*"(?=[^"\n]*"\())[^"\n]*?\bnpm\/[^"/\n]+\/((?:@[^"/\n]+\/)?[^"/\n]+)\/(\d[^"/\n]*)\//gm,
    (_, before: string, name: string, version: string) => `${before}npm:${name}@${version}/`,
  );
}
