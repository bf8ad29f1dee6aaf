import assert from "node:assert/strict";
import { join } from "node:path";
import { parseGitConfig, untilde, userGitSettings } from "../../../src/domain/kit/git_config.ts";
import { withFolder } from "../../helpers/with_folder.ts";

/** Each file has the names and values that `git config --list` prints for it. */
const FILES: readonly (readonly [text: string, settings: readonly string[]])[] = [
  ["[a][core]fsmonitor=evil\n", ["core.fsmonitor=evil"]],
  ["# c \\\n[core]fsmonitor = x\n", ["core.fsmonitor=x"]],
  [
    '[core]\n\tpager = less \\\n  -R ; comment\n\teditor = "a # b" # c\n',
    ["core.pager=less   -R", "core.editor=a # b"],
  ],
  ['[a "b\\"c"] x = 1\n[A.b]\r\n  flag\r\n  other ; c\n', ['a.b"c.x=1', "a.b.flag=true", "a.b.other=true"]],
  ['[core]\n\tx = a\\tb\\\\c\\"d\n', ['core.x=a\tb\\c"d']],
  ["\ufeff[core] a=1\n b=2", ["core.a=1", "core.b=2"]],
];

Deno.test("parseGitConfig() reads settings as git does", () => {
  for (const [text, settings] of FILES) {
    const found = parseGitConfig(text).map(({ section, subsection, key, value }) =>
      `${[section, ...subsection === null ? [] : [subsection], key].join(".")}=${value}`
    );
    assert.deepEqual(found, settings, text);
  }
});

Deno.test("untilde() knows the folders of other users", { ignore: Deno.build.os === "windows" }, () => {
  assert.equal(untilde("~/a", "/home/me"), "/home/me/a");
  assert.match(untilde("~root/a", "/home/me"), /^(?:\/var)?\/root\/a$/);
  assert.equal(untilde("~nobody-has-this-name/a", "/home/me"), "~nobody-has-this-name/a");
  assert.equal(untilde("a~/b", "/home/me"), "a~/b");
});

Deno.test("userGitSettings() reads the settings of all users first, with their included files", () =>
  withFolder(async (home) => {
    const system = join(home, "system");
    await Deno.writeTextFile(system, "[commit]\n\tgpgSign = true\n[user]\n\tname = All\n[include]\n\tpath = more\n");
    await Deno.writeTextFile(join(home, "more"), "[user]\n\temail = all@example.org\n");
    await Deno.writeTextFile(join(home, ".gitconfig"), "[user]\n\tname = Ada\n");
    const read = async (of: { readonly system: string | null }) =>
      (await userGitSettings({ home, gitDir: home, ...of })).map(({ section, key, value }) =>
        `${section}.${key}=${value}`
      );
    const all = ["commit.gpgsign=true", "user.name=All", "user.email=all@example.org"];
    assert.deepEqual((await read({ system })).filter((one) => !one.startsWith("include")), [...all, "user.name=Ada"]);
    assert.deepEqual(await read({ system: null }), ["user.name=Ada"]);
  }));
