import assert from "node:assert/strict";
import { join } from "node:path";
import { identityOf } from "../../../../extensions/git/identity.ts";

const NONE = { config: undefined, settings: [], gitDir: "/projects/shop/.git" };

async function withHome(
  files: Readonly<Record<string, string>>,
  test: (home: string) => Promise<void>,
): Promise<void> {
  const home = await Deno.makeTempDir({ prefix: "vis-identity-" });
  try {
    for (const [path, text] of Object.entries(files)) {
      await Deno.mkdir(join(home, path, ".."), { recursive: true });
      await Deno.writeTextFile(join(home, path), text);
    }
    await test(home);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

Deno.test("identityOf() prefers the extension's settings, then the repository's, then the user's", async () => {
  const user = '[user]\n\tname = "Ada L." ; of the user\n\temail = ada@home # private\n';
  await withHome({ ".gitconfig": user }, async (home) => {
    assert.deepEqual(await identityOf({ ...NONE, home }), { name: "Ada L.", email: "ada@home" });
    const settings = [{ section: "user", subsection: null, key: "email", value: "ada@work" }];
    assert.deepEqual(await identityOf({ ...NONE, settings, home }), { name: "Ada L.", email: "ada@work" });
    const config = { name: "Vis", email: "vis@work" };
    assert.deepEqual(await identityOf({ ...NONE, config, settings, home }), config);
  });
});

Deno.test("identityOf() names the missing setting, and how to set it", async () => {
  await withHome({ ".gitconfig": "[user]\n\tname = Ada\n[alias]\n\temail = x\n" }, async (home) => {
    await assert.rejects(
      identityOf({ ...NONE, home }),
      /Cannot name the author of a commit or tag: the settings of git have no user.email; .*git config --global/,
    );
  });
  await assert.rejects(identityOf({ ...NONE, home: null }), /the settings of git have no user.name and no user.email/);
});

Deno.test("identityOf() follows includes, and conditions about the repository's folder", async () => {
  const email = (value: string): string => `[user]\n\temail = ${value}\n`;
  await withHome({
    ".config/git/config": "[user]\n\tname = Ada\n",
    ".gitconfig": [
      email("home"),
      '[includeIf "gitdir:/projects/"]\n\tpath = ~/work.conf',
      '[includeIf "gitdir:/other/"]\n\tpath = other.conf',
      '[includeIf "onbranch:main"]\n\tpath = other.conf',
    ].join("\n"),
    "work.conf": "[include]\n\tpath = deep/er.conf\n",
    "deep/er.conf": email("work"),
    "other.conf": email("other"),
  }, async (home) => {
    const of = async (gitDir: string): Promise<string> => (await identityOf({ ...NONE, gitDir, home })).email;
    assert.equal(await of("/projects/shop/.git"), "work");
    assert.equal(await of("/works/shop/.git"), "home");
    assert.equal(await of("/other/.git"), "other");
  });
});

Deno.test("identityOf() ends if files include each other, and skips files that are not text", async () => {
  await withHome({
    ".gitconfig": "[user]\n\tname = Ada\n\temail = a\n[include]\n\tpath = loop.conf\n[include]\n\tpath = .\n",
    "loop.conf": "[include]\n\tpath = loop.conf\n[nonsense\n= = =\n",
  }, async (home) => {
    assert.deepEqual(await identityOf({ ...NONE, home }), { name: "Ada", email: "a" });
  });
});
