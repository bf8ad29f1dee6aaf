import assert from "node:assert/strict";
import { missingProgramHint } from "../../../extensions/shell/missing_program.ts";
import { withFolder } from "../../helpers/with_folder.ts";

Deno.test("a missing program: the hint names the workspace's own, or an equivalent one", async () => {
  await withFolder(async (workspace) => {
    for (const path of [".venv/bin/pytest", ".venv/bin/python", "node_modules/.bin/tsc"]) {
      await Deno.mkdir(`${workspace}/${path.slice(0, path.lastIndexOf("/"))}`, { recursive: true });
      await Deno.writeTextFile(`${workspace}/${path}`, "");
    }
    await Deno.mkdir(`${workspace}/node_modules/.bin/eslint`);
    const cases: readonly (readonly [string, string | null])[] = [
      ["sh: 1: pytest: not found", "pytest is not in PATH: .venv/bin/pytest is here"],
      ["/bin/sh: line 1: python: command not found", "python is not in PATH: .venv/bin/python is here"],
      ["bash: line 3: tsc: command not found", "tsc is not in PATH: node_modules/.bin/tsc is here"],
      ["zsh: command not found: tsc", "tsc is not in PATH: node_modules/.bin/tsc is here"],
      ["env: ‘python’: No such file or directory", "python is not in PATH: .venv/bin/python is here"],
      ["sh: 1: eslint: not found", null],
      ["Error: module not found", null],
      ["sh: 1: nothing-like-it: not found", null],
      ["sh: 1: constructor: not found", null],
      ["12 passed", null],
    ];
    for (const [output, hint] of cases) assert.equal(await missingProgramHint({ workspace }, output), hint, output);
  });
});

Deno.test("a program that only the system has under another name", async () => {
  await withFolder(async (workspace) => {
    const has = (name: string): boolean =>
      ["/usr/local/bin", "/usr/bin", "/bin", "/opt/homebrew/bin"].some((folder) => {
        try {
          return Deno.statSync(`${folder}/${name}`).isFile;
        } catch {
          return false;
        }
      });
    const python = await missingProgramHint({ workspace }, "sh: 1: python: not found");
    assert.equal(python, has("python3") ? "python is not in PATH: python3 is here" : null);
    const grep = await missingProgramHint({ workspace }, "sh: 1: rg: not found");
    assert.equal(grep, has("grep") ? "rg is not in PATH: grep -rn is here" : null);
  });
});
