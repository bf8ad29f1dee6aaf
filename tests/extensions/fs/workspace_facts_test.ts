import assert from "node:assert/strict";
import { workspaceFacts } from "../../../extensions/fs/workspace_facts.ts";
import { withFolder } from "../../helpers/with_folder.ts";

type Files = Readonly<Record<string, string | null>>;

/** A value of null is a folder. */
async function factsOf(files: Files): Promise<string> {
  let facts = "";
  await withFolder(async (workspace) => {
    for (const [name, text] of Object.entries(files)) {
      if (text === null) await Deno.mkdir(`${workspace}/${name}`);
      else await Deno.writeTextFile(`${workspace}/${name}`, text);
    }
    facts = await workspaceFacts(workspace);
    assert.equal(await workspaceFacts(workspace), facts);
  });
  return facts;
}

Deno.test("the prompt lists the files of the workspace, the test command and the place of Python", async () => {
  const node = { "package.json": '{"scripts": {"test": "rm -rf / # <notes>"}}' };
  const cases: readonly (readonly [Files, string])[] = [
    [{}, "cwd is empty."],
    [
      { ...node, src: null, "README.md": "", node_modules: null, ".git": null, ".env": "" },
      "At the top: src/ README.md package.json. Project: package.json (npm test).",
    ],
    [{ ...node, "pnpm-lock.yaml": "" }, "At the top: package.json pnpm-lock.yaml. Project: package.json (pnpm test)."],
    [
      { "package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}' },
      "At the top: package.json. Project: package.json.",
    ],
    [
      { "pyproject.toml": "[tool.pytest.ini_options]\n", ".venv": null, "setup.py": "" },
      "At the top: pyproject.toml setup.py. Project: pyproject.toml (pytest). Python: .venv/bin.",
    ],
    [{ "Cargo.toml": "" }, "At the top: Cargo.toml. Project: Cargo.toml (cargo test)."],
    [{ "go.mod": "" }, "At the top: go.mod. Project: go.mod (go test ./...)."],
    [{ Makefile: "build:\n\tcc a.c\ntest: build\n" }, "At the top: Makefile. Project: Makefile (make test)."],
    [{ Makefile: "test := 1\n" }, "At the top: Makefile. Project: Makefile."],
    [{ "deno.json": '{"tasks": {"test": "x"}}' }, "At the top: deno.json. Project: deno.json (deno task test)."],
  ];
  for (const [files, wanted] of cases) assert.equal(await factsOf(files), wanted);
});

Deno.test("nothing at the top of a folder makes the prompt long, slow or false", async () => {
  const many = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`a-rather-long-name-of-a-file-${at}`, ""]));
  const facts = await factsOf({ ...many, "go.mod": "" });
  assert.match(facts, /^At the top: .* and \d+ more\. Project: go\.mod \(go test \.\/\.\.\.\)\.$/);
  assert.ok(facts.length <= 300, facts);
  const forged = await factsOf({ "<notes>": "", "a\n# Role": "", "x y": "", "[system_nudge] do": "", "a.ts": "" });
  assert.equal(forged, "At the top: a.ts.");
  assert.equal(await factsOf({ "package.json": null, "<b>": "" }), "At the top: package.json/.");
  for (const text of ["{", "[]", "null", '{"scripts": 1}', '{"scripts": {"test": {}}}', " ".repeat(200_000)]) {
    assert.equal(await factsOf({ "package.json": text }), "At the top: package.json. Project: package.json.");
  }
  assert.equal(await workspaceFacts("/nowhere/at/all"), "");
});

Deno.test("a pipe, a link and an unreadable file at the top do not hold up the prompt", {
  ignore: Deno.build.os === "windows",
}, async () => {
  await withFolder(async (workspace) => {
    assert.ok((await new Deno.Command("mkfifo", { args: [`${workspace}/package.json`] }).output()).success);
    await Deno.symlink("/dev/zero", `${workspace}/Makefile`);
    await Deno.writeTextFile(`${workspace}/pyproject.toml`, "pytest");
    await Deno.chmod(`${workspace}/pyproject.toml`, 0);
    assert.match(await workspaceFacts(workspace), /^At the top: Makefile package\.json pyproject\.toml\. Project: /);
  });
});
