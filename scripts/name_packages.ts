/** Package names such as `npm:zod@4.6.7/v4/core/api.js` replace paths of Deno's cache, which would reveal folders of
 * the build machine. */
export function namePackages(code: string): string {
  return code.replace(
    /^(\/\/ |\s*"(?=[^"\n]*"\())[^"\n]*?\bnpm\/[^"/\n]+\/((?:@[^"/\n]+\/)?[^"/\n]+)\/(\d[^"/\n]*)\//gm,
    (_, before: string, name: string, version: string) => `${before}npm:${name}@${version}/`,
  );
}
