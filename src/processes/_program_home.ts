import { dirname, join } from "node:path";
import { userGitSettings } from "../domain/kit/git_config.ts";

interface HomeParts {
  /** Where links in it lead, by their paths in it. */
  readonly links: Readonly<Record<string, string>>;
  /** The user's own. */
  readonly home: string | null;
  readonly workspace: string;
}

/** Fills the temporary home folder of a program: links to packages, and a git configuration that says who the user is
 * and nothing else. */
export async function makeHome(folder: string, { links, home, workspace }: HomeParts): Promise<void> {
  const linked = Object.entries(links).map(async ([path, to]) => {
    await Deno.mkdir(dirname(join(folder, path)), { recursive: true });
    await Deno.symlink(to, join(folder, path));
  });
  const named = userGitSettings({ home, gitDir: join(workspace, ".git") }).then(async (settings) => {
    const lines = settings.flatMap(({ section, subsection, key, value }) =>
      section === "user" && subsection === null && ["name", "email"].includes(key)
        ? [`\t${key} = ${JSON.stringify(value)}\n`]
        : []
    );
    if (lines.length > 0) await Deno.writeTextFile(join(folder, ".gitconfig"), `[user]\n${lines.join("")}`);
  });
  await Promise.all([...linked, named]);
}
