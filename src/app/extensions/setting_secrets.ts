import { Credentials } from "../../providers/credentials.ts";
import type { Settings } from "../settings/settings.ts";

/** `${GITHUB_TOKEN}` from the environment, `${auth:github}` from the file that `vis auth login` writes. */
const REFERENCE = /\$\{(auth:)?([\w.-]+)\}/g;

/** Replaces references to secrets in texts of settings; unknown references stay unchanged. Undefined if `values`
 * contains no reference. Rejects with `ConfigError` if the key file cannot be used. */
export async function settingSecrets(
  values: unknown,
  { home, variable = () => null }: Pick<Settings, "home"> & Partial<Pick<Settings, "variable">>,
): Promise<((text: string) => string) | undefined> {
  const text = JSON.stringify(values) ?? "";
  if (!text.includes("${")) return undefined;
  const keys = home !== null && text.includes("${auth:") ? await new Credentials(`${home}/auth.json`).all() : {};
  const keyOf = (name: string): string | undefined => {
    const found = Object.hasOwn(keys, name) ? keys[name] : undefined;
    return found?.type === "key" ? found.key : found?.githubToken;
  };
  return (given) => given.replace(REFERENCE, (whole, auth, name) => (auth ? keyOf(name) : variable(name)) ?? whole);
}
