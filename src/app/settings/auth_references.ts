/** Names of the secrets that settings refer to as `${auth:NAME}`: keys that `vis auth login NAME` saves. */
export function authReferences(settings: unknown): ReadonlySet<string> {
  const text = JSON.stringify(settings) ?? "";
  return new Set([...text.matchAll(/\$\{auth:([\w.-]+)\}/g)].map(([, name = ""]) => name));
}
