import assert from "node:assert/strict";
import { join } from "node:path";
import { findSkills } from "../../../extensions/skills/find_skills.ts";
import skills from "../../../extensions/skills/mod.ts";
import type { JsonValue } from "../../../src/domain/kit/json.ts";
import { type EnvironmentView, fn, z } from "../../../src/extension/mod.ts";
import { ExtensionRegistry } from "../../../src/extension/registry.ts";
import type { OwnStore } from "../../../src/extension/spec.ts";
import { write } from "../../extension/_folders.ts";
import { recordingLog, sample, VIEW } from "../../extension/_sample.ts";
import { withFolder } from "../../helpers/with_folder.ts";

function skillText(name: string, description: string): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n# ${name}\nDo it.\n`;
}

async function activeIn(workspace: string, home: string | null = null, root?: string) {
  const registry = new ExtensionRegistry({ log: recordingLog().log, home });
  registry.register(skills);
  const env = { ...VIEW, workspace, secrets: [".env*"], ...(root === undefined ? {} : { root }) };
  const active = await registry.activate(env);
  const call = (name: string, ...args: unknown[]) =>
    active.call(`skills.${name}`, args, { env, signal: new AbortController().signal });
  return { block: active.blocks[0] ?? "", functions: active.functions, call };
}

Deno.test("skills shows nothing and has no function if there are no files", () =>
  withFolder(async (folder) => {
    const { block, functions } = await activeIn(folder, join(folder, "home"));
    assert.deepEqual([block, functions], ["", []]);
  }));

Deno.test("skills: AGENTS.md and CLAUDE.md are in the prompt, cut, and once if they are the same", () =>
  withFolder(async (folder) => {
    await write(folder, { "AGENTS.md": "Use tabs.", "CLAUDE.md": "Be brief." });
    assert.match(
      (await activeIn(folder)).block,
      /AGENTS\.md of the project:\nUse tabs\.\nCLAUDE\.md of .*\nBe brief\./,
    );
    await write(folder, { "CLAUDE.md": "Use tabs.\n", "AGENTS.md": "Use tabs." });
    assert.doesNotMatch((await activeIn(folder)).block, /CLAUDE/);
    await write(folder, { "AGENTS.md": "é".repeat(50_000) });
    const { block } = await activeIn(folder);
    assert.match(block, /\[cut here; the rest is in AGENTS\.md\]/);
    assert.ok(block.length < 7_000, `${block.length}`);
  }));

Deno.test("skills of a folder with too many names are found in part, and the prompt notes it", () =>
  withFolder(async (folder) => {
    await write(folder, { "skills/a/SKILL.md": skillText("a", "A") });
    for (let at = 0; at < 1_000; at++) await Deno.mkdir(join(folder, `skills/b${at}`));
    const { block } = await activeIn(folder);
    assert.match(
      block,
      /\n- a: A\n.*\/skills has more than 1000 folders or 2000 names, so Vis finds only some of its skills/,
    );
  }));

Deno.test("skills are listed by name and description, and read on request", () =>
  withFolder(async (folder) => {
    await write(folder, {
      ".vis/skills/release/SKILL.md": skillText("release", '"How to: release"'),
      ".vis/skills/release/notes/steps.md": "1. tag",
      ".claude/skills/folded/SKILL.md": "---\nname: folded\ndescription: >\n  Two\n  lines\n---\n",
      ".vis/skills/none/SKILL.md": "# no head",
      "home/skills/release/SKILL.md": skillText("release", "The user's own"),
      "home/skills/mine/SKILL.md": skillText("mine", "Mine"),
    });
    const { block, call } = await activeIn(folder, join(folder, "home"));
    assert.match(block, /- folded: Two lines\n- mine: Mine\n- release: How to: release\n/);
    assert.doesNotMatch(block, /Do it/);
    assert.match(String(await call("read", "release")), /# release\nDo it\./);
    assert.equal(await call("read", "release", "notes/steps.md"), "1. tag");
    await assert.rejects(call("read", "gone"), {
      message:
        "Cannot read skill gone: Vis found no skill with this name (the nearest are mine, folded, release); skills.list() lists all",
    });
    assert.equal((await call("list") as unknown[]).length, 3);
  }));

Deno.test("a skill's description is read as its author quoted it", () =>
  withFolder(async (folder) => {
    const descriptions = {
      double: '"Say \\"hi\\": now"',
      single: "'It''s \"here\"'",
      plain: "Use it when: the user says 'go'",
      odd: '"a" or "b"',
      paragraphs: "|-\n  One\n\n  two\nother: x",
    };
    await write(
      folder,
      Object.fromEntries(
        Object.entries(descriptions).map(([name, text]) => [`skills/${name}/SKILL.md`, skillText(name, text)]),
      ),
    );
    const { block } = await activeIn(folder);
    assert.match(
      block,
      /- double: Say "hi": now\n- odd: "a" or "b"\n- paragraphs: One two\n- plain: Use it when: the user says 'go'\n- single: It's "here"\n/,
    );
  }));

Deno.test("skills are found behind links that stay in the workspace, and behind the user's own", () =>
  withFolder(async (folder) => {
    await write(folder, {
      "ws/.agents/shared/SKILL.md": skillText("shared", "Shared"),
      "ws/.claude/skills/own/SKILL.md": skillText("own", "Own"),
      "away/dotfile/SKILL.md": skillText("dotfile", "Dotfile"),
      "home/skills/plain/SKILL.md": skillText("plain", "Plain"),
    });
    const ws = join(folder, "ws");
    await Deno.symlink("../../.agents/shared", join(ws, ".claude/skills/shared"));
    await Deno.symlink(join(folder, "away/dotfile"), join(folder, "home/skills/dotfile"));
    await Deno.symlink(join(folder, "away"), join(ws, "skills"));
    const { call } = await activeIn(ws, join(folder, "home"));
    const names = (await call("list") as readonly { readonly name: string }[]).map(({ name }) => name);
    assert.deepEqual(names, ["dotfile", "own", "plain", "shared"]);
    assert.match(String(await call("read", "shared")), /# shared/);
    await Deno.remove(join(folder, "home"), { recursive: true });
    await assert.rejects(
      call("read", "dotfile"),
      /found no skill with this name \(the nearest are own, shared\); skills\.list/,
    );
  }));

Deno.test("skills: nothing outside is read, by no link and no path", () =>
  withFolder(async (folder) => {
    await write(folder, { "secret": "SECRET", "ws/.vis/skills/a/SKILL.md": skillText("a", "A") });
    const ws = join(folder, "ws");
    await Deno.symlink(join(folder, "secret"), join(ws, "AGENTS.md"));
    await Deno.symlink(join(folder, "secret"), join(ws, ".vis/skills/a/link.md"));
    await Deno.symlink(folder, join(ws, ".vis/skills/b"));
    const { block, call } = await activeIn(ws);
    assert.doesNotMatch(block, /SECRET/);
    for (const path of ["link.md", "../../../../secret", join(folder, "secret"), "."]) {
      await assert.rejects(
        call("read", "a", path),
        /the file is missing, binary or unreadable, leads out of the skill's folder/,
        path,
      );
    }
  }));

Deno.test("skills: no link brings a file that may hold keys into the prompt or to the model", () =>
  withFolder(async (folder) => {
    await write(folder, { ".env": "KEY=the-secret", ".vis/skills/a/SKILL.md": skillText("a", "Does it.") });
    await Deno.symlink(".env", join(folder, "AGENTS.md"));
    await Deno.symlink("../../../.env", join(folder, ".vis/skills/a/keys.md"));
    const { block, call } = await activeIn(folder);
    assert.ok(!block.includes("the-secret"));
    await assert.rejects(call("read", "a", "keys.md"), /Cannot read keys\.md of skill a/);
  }));

Deno.test("skills: instructions are read from the user, the root of the repository and each folder down to the workspace", () =>
  withFolder(async (folder) => {
    const root = await Deno.realPath(folder), api = join(root, "mono/packages/api"), home = join(root, "home");
    await write(root, {
      "AGENTS.md": "beside",
      "home/AGENTS.md": "user",
      "mono/AGENTS.md": "top\n@docs/style.md\nmail @docs/style.md",
      "mono/CLAUDE.md": "@AGENTS.md",
      "mono/docs/style.md": "style\n@../docs/style.md\n@more.md",
      "mono/docs/more.md": "more\n@../../AGENTS.md\n@../.env",
      "mono/.env": "KEY=sk-1",
      "mono/packages/CLAUDE.md": "packages",
      "mono/packages/api/AGENTS.md": "api",
      "mono/packages/web/AGENTS.md": "web",
      "mono/.agents/skills/release/SKILL.md": skillText("release", "At the top"),
    });
    const { block } = await activeIn(api, home, join(root, "mono"));
    assert.equal(
      block.slice(block.indexOf("AGENTS.md of the user")).trimEnd(),
      "AGENTS.md of the user:\nuser\n../../AGENTS.md of the project:\ntop\nstyle\n@../docs/style.md\n" +
        "more\n@../../AGENTS.md\n@../.env\nmail @docs/style.md\n../CLAUDE.md of the project:\npackages\n" +
        "AGENTS.md of the project:\napi\nMore (doc): read, list",
    );
    assert.match(block, /- release: At the top/);
  }));

Deno.test("skills: of too many instructions, the nearest are shown and the others named", () =>
  withFolder(async (folder) => {
    const root = await Deno.realPath(folder), deep = join(root, "a/b/c/d/e");
    for (const [at, path] of ["", "a/", "a/b/", "a/b/c/", "a/b/c/d/", "a/b/c/d/e/"].entries()) {
      await write(root, { [`${path}AGENTS.md`]: `${at}`.repeat(5_900) });
    }
    const { block } = await activeIn(deep, null, root);
    assert.ok(block.length < 26_000, `${block.length}`);
    assert.match(
      block,
      /\nToo long to be shown: \.\.\/\.\.\/\.\.\/\.\.\/\.\.\/AGENTS\.md, \.\.\/\.\.\/\.\.\/\.\.\/AGENTS\.md/,
    );
    assert.match(block, /\nAGENTS\.md of the project:\n5/);
  }));

Deno.test("skills are requests by name", () =>
  withFolder(async (folder) => {
    await write(folder, { ".claude/skills/release/SKILL.md": skillText("release", "How to release") });
    const found = await skills.requests?.({ workspace: folder, home: null, secrets: [] });
    assert.deepEqual(found?.map(({ name, doc }) => [name, doc]), [["release", "How to release"]]);
    assert.match(found?.[0]?.text ?? "", /skill release.*\$ARGUMENTS/s);
  }));

Deno.test("unusable skills are named with the reason, once next to an answer and by doctor", () =>
  withFolder(async (folder) => {
    await write(folder, {
      "w/.claude/skills/headless/SKILL.md": "# Headless",
      "w/.agents/skills/silent/SKILL.md": "---\nname: silent\n---\n",
      "w/skills/noted.txt": "x",
      "w/skills/other/README.md": "x",
      "elsewhere/SKILL.md": skillText("elsewhere", "Out"),
      "home/skills/mine/SKILL.md": skillText("mine", "Mine"),
    });
    await Deno.symlink(join(folder, "elsewhere"), join(folder, "w/skills/linked"));
    const [workspace, home] = [join(folder, "w"), join(folder, "home")];
    const registry = new ExtensionRegistry({ log: recordingLog().log, home });
    registry.register(skills);
    const told = async () => {
      const { faults } = await registry.activate({ ...VIEW, workspace });
      return (faults?.() ?? []).map(({ error }) => error instanceof Error ? error.message : "").sort();
    };
    const expected = [
      `Cannot use the skill ${workspace}/.agents/skills/silent: its SKILL.md has no description`,
      `Cannot use the skill ${workspace}/.claude/skills/headless: the first 4000 characters of its SKILL.md have no ` +
      "description between two lines of ---",
      `Cannot use the skill ${workspace}/skills/linked: its path leads out of ${workspace}`,
    ];
    assert.deepEqual(await told(), expected);
    assert.deepEqual(await told(), []);
    const none = { config: {}, spawn: null, spawnInWorkspace: null };
    const checks = await skills.doctor?.({ ...none, workspace, home }) ?? [];
    assert.deepEqual(checks.map(({ found }) => found).sort(), expected);
    assert.deepEqual(checks.map(({ state }) => state), ["warn", "warn", "warn"]);
  }));

Deno.test("skills of other agents in the home folder come last", () =>
  withFolder(async (folder) => {
    await write(folder, {
      "user/.claude/skills/a/SKILL.md": skillText("a", "of claude"),
      "user/.claude/skills/b/SKILL.md": skillText("b", "of claude"),
      "user/.agents/skills/b/SKILL.md": skillText("b", "of agents"),
      "home/skills/a/SKILL.md": skillText("a", "of vis"),
    });
    const places = { workspace: join(folder, "w"), home: join(folder, "home"), userHome: join(folder, "user") };
    const found = async (own: Parameters<typeof findSkills>[0]) =>
      (await findSkills(own)).skills.map(({ name, description }) => `${name} ${description}`);
    assert.deepEqual(await found(places), ["a of vis", "b of agents"]);
    assert.deepEqual(await found({ ...places, home: null }), []);
  }));

function conversations(own: Pick<EnvironmentView, "workspace" | "root" | "note" | "store">) {
  const registry = new ExtensionRegistry({ log: recordingLog().log });
  registry.register({
    ...sample({ namespace: "test.reader" }),
    symbols: [fn("read", async ({ fileRead }: EnvironmentView, path: string) => await fileRead?.(path), {
      doc: "Reads.",
      args: z.tuple([z.string()]),
      returns: "unknown",
    })],
  });
  registry.register(skills);
  return async (branchId: string) => {
    const env = { ...VIEW, conversationId: branchId, branchId, ...own };
    const active = await registry.activate(env);
    const alias = active.functions.find((name) => name.endsWith(".read") && !name.startsWith("skills"))!;
    return {
      block: active.blocks.join("\n"),
      read: (path: string) => active.call(alias, [path], { env, signal: new AbortController().signal }),
    };
  };
}

Deno.test("the instructions of another folder follow the first file that is read in it, and stay for later requests", () =>
  withFolder(async (folder) => {
    const root = await Deno.realPath(folder), workspace = join(root, "packages/api");
    await write(folder, {
      "AGENTS.md": "Of the top.",
      "packages/api/AGENTS.md": "Of api.",
      "packages/api/src/deep/AGENTS.md": "Of deep.",
      "packages/core/AGENTS.md": "Of core.\n@../style.md",
      "packages/style.md": "Style.",
      "packages/core/src/CLAUDE.md": "Of core's source.",
      "packages/long/AGENTS.md": `${"a long rule. ".repeat(300)}The last rule.`,
    });
    const notes: string[] = [];
    const conversation = conversations({ workspace, root, note: (text) => void notes.push(text) });
    const { block, read } = await conversation("one");
    assert.match(block, /Of the top\.[\s\S]*Of api\./);
    for (const path of ["package.json", "src/x.ts", "../../README.md"]) await read(path);
    assert.deepEqual(notes.splice(0), []);
    for (const path of ["../core/src/a.ts", "../core/src/b.ts", "../core/x.ts"]) await read(path);
    assert.deepEqual(notes.splice(0), [
      "../core/AGENTS.md of the project:\nOf core.\nStyle.",
      "../core/src/CLAUDE.md of the project:\nOf core's source.",
    ]);
    await read("src/deep/a.ts");
    assert.deepEqual(notes.splice(0), ["src/deep/AGENTS.md of the project:\nOf deep."]);
    await read("../long/x.ts");
    const [note = ""] = notes.splice(0);
    assert.match(note, /a long rule\.[^]*\n\[cut here; the rest is in \.\.\/long\/AGENTS\.md\]$/);
    assert.ok(note.length < 1_400, `${note.length}`);
    const { block: later } = await conversation("one");
    assert.match(later, /Of api\.[\s\S]*Of core\.[\s\S]*Of deep\.[\s\S]*The last rule\./);
    assert.doesNotMatch((await conversation("two")).block, /Of core/);
  }));

Deno.test("after a restart, the prompt has the present instructions of the folders whose instructions Vis showed", () =>
  withFolder(async (folder) => {
    const workspace = await Deno.realPath(folder), root = workspace;
    await write(folder, { "sub/AGENTS.md": "Of sub.", "sub/deep/CLAUDE.md": "Of deep.", "none/x.ts": "" });
    const stored = new Map<string, JsonValue>(), notes: string[] = [];
    const store = {
      get: (key: string) => Promise.resolve(stored.get(key)),
      put: (key: string, value: JsonValue) => Promise.resolve({ version: stored.set(key, value).size }),
    } as Partial<OwnStore> as OwnStore;
    const conversation = conversations({ workspace, root, store, note: (text) => void notes.push(text) });
    const { block, read } = await conversation("before the restart");
    assert.doesNotMatch(block, /Of sub/);
    for (const path of ["sub/deep/a.ts", "none/x.ts", "b.ts"]) await read(path);
    assert.equal(notes.splice(0).length, 2);
    await write(folder, { "sub/AGENTS.md": "Of sub, changed." });
    // The memory of a process has nothing about another branch, as after a restart.
    const again = await conversation("after the restart");
    assert.match(again.block, /Of sub, changed\.[\s\S]*Of deep\./);
    await again.read("sub/deep/b.ts");
    assert.deepEqual(notes.splice(0), []);
    stored.set("folders", ["sub", "../..", 5]);
    await write(folder, { "sub/AGENTS.md": `${"a long rule. ".repeat(3_000)}` });
    assert.match((await conversation("with other folders")).block, /sub\/AGENTS\.md of the project:\na long rule/);
  }));
