/** Replaces the paths in Deno's cache that the bundler writes by package names, such as `npm:zod@4.6.7/v4/core/api.js`.
 * Otherwise every executable would contain paths of the build machine. */
export function namePackages(code: string): string {
  return code.replace(
    /^(\/\/ |\s*"(?=[^"\n]*"\())[^"\n]*?\bnpm\/[^"/\n]+\/((?:@[^"/\n]+\/)?[^"/\n]+)\/(\d[^"/\n]*)\//gm,
    (_, before: string, name: string, version: string) => `${before}npm:${name}@${version}/`,
  );
}
