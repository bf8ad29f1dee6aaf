import { homedir } from "node:os";
import { advised, type GitSetting, userGitSettings, z } from "@vis/extension";
import { Git } from "./git.ts";

export const IdentityConfig = z.strictObject({
  enabled: z.boolean().default(true).describe("Whether blocks may use git; never in the locked profile"),
  name: z.string().min(1).optional().describe(
    "Name of the author and committer of commits and tags; overrides user.name of git",
  ),
  email: z.string().min(1).optional().describe(
    "Email address of the author and committer of commits and tags; overrides user.email of git",
  ),
}).prefault({});

interface Identity {
  readonly name: string;
  readonly email: string;
}

export async function committer(git: Git): Promise<Readonly<Record<string, string>>> {
  const { config, settings, repository: { gitDir } } = git;
  return committerVariables(await identityOf({ config, settings, gitDir }));
}

export function committerVariables({ name, email }: Identity): Readonly<Record<string, string>> {
  return {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
  };
}

/** `setting` is a switch such as "commit.gpgSign", in the user's settings or in the repository. */
export async function isOn({ settings, repository: { gitDir } }: Git, setting: string): Promise<boolean> {
  const all = [...await userGitSettings({ home: homedir(), gitDir }), ...settings];
  const value = all.findLast(({ section, subsection, key }) =>
    subsection === null && `${section}.${key}` === setting.toLowerCase()
  )?.value;
  return value !== undefined && /^(?:true|yes|on|[1-9]\d*)$/i.test(value);
}

/** The extension's settings have precedence over the repository, and the repository over the user's git settings. */
export async function identityOf(
  { config, settings, gitDir, home = homedir() }: {
    readonly config: unknown;
    readonly settings: readonly GitSetting[];
    readonly gitDir: string;
    readonly home?: string | null;
  },
): Promise<Identity> {
  const own: Partial<z.infer<typeof IdentityConfig>> = IdentityConfig.safeParse(config ?? {}).data ?? {};
  const users = own.name !== undefined && own.email !== undefined ? [] : await userGitSettings({ home, gitDir });
  const all = [...users, ...settings];
  const value = (key: string): string | undefined =>
    all.findLast((one) => one.section === "user" && one.subsection === null && one.key === key)?.value || undefined;
  const name = own.name ?? value("name");
  const email = own.email ?? value("email");
  if (name !== undefined && email !== undefined) return { name, email };
  const lacking = [...(name === undefined ? ["user.name"] : []), ...(email === undefined ? ["user.email"] : [])];
  throw advised(
    new Error(`Cannot name the author of a commit or tag: the settings of git have no ${lacking.join(" and no ")}`),
    'ask the user for git config --global, or for name and email in extensions.config["vis.git"]',
  );
}
