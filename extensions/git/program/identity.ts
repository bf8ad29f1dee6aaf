import { homedir } from "node:os";
import { type GitSetting, userGitSettings } from "@vis/extension";
import IdentityConfig from "./settings.ts";

export interface Identity {
  readonly name: string;
  readonly email: string;
}

/** Who commits: from the extension's section, or the repository, or the user's own git configuration, of which only
 * name and address are used. Throws Error that says how to set it. */
export async function identityOf(
  { config, settings, gitDir, home = homedir() }: {
    readonly config: unknown;
    readonly settings: readonly GitSetting[];
    readonly gitDir: string;
    readonly home?: string | null;
  },
): Promise<Identity> {
  const own = IdentityConfig.safeParse(config ?? {}).data ?? {};
  const users = own.name !== undefined && own.email !== undefined ? [] : await userGitSettings({ home, gitDir });
  const all = [...users, ...settings];
  const value = (key: string): string | undefined =>
    all.findLast((one) => one.section === "user" && one.subsection === null && one.key === key)?.value || undefined;
  const name = own.name ?? value("name");
  const email = own.email ?? value("email");
  if (name !== undefined && email !== undefined) return { name, email };
  const lacking = [...(name === undefined ? ["user.name"] : []), ...(email === undefined ? ["user.email"] : [])];
  throw new Error(
    `Cannot commit: ${
      lacking.join(" and ")
    } are not set; the user sets them by git config --global, or as name and email in extensions.config["vis.git"]`,
  );
}
