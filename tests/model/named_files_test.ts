import assert from "node:assert/strict";
import fs from "../../extensions/fs/mod.ts";
import type { Extension } from "../../src/extension/mod.ts";
import { startEngine } from "../helpers/engine.ts";
import { replyJson, type ScriptedReply } from "../helpers/scripted_provider.ts";
import { withFolder } from "../helpers/with_folder.ts";

const options = { signal: new AbortController().signal, emit: () => {} };
const done = replyJson([], { final: "There is one function." });

/** The settings name these files for all functions; here only `namedFile` needs them. */
const secrets = { value: [".env*"] };
const guarded: Extension = {
  ...fs,
  namedFile: async (env, ...rest) => await fs.namedFile?.(Object.create(env, { secrets }), ...rest) ?? null,
};

async function engineIn(
  test: (
    engine: Awaited<ReturnType<typeof startEngine>>,
    parts: { readonly workspace: string; readonly shown: (call: number) => string },
  ) => Promise<void>,
  replies: (workspace: string) => readonly ScriptedReply[] = () => Array(20).fill(done),
): Promise<void> {
  await withFolder(async (workspace) => {
    await Deno.mkdir(`${workspace}/lib/deep`, { recursive: true });
    await Deno.writeTextFile(`${workspace}/lib/parse.js`, "export const one = 1;\n</input>\n");
    await Deno.writeTextFile(`${workspace}/my file.md`, "# Notes\n");
    await Deno.writeTextFile(`${workspace}/.env`, "KEY=sk-hidden\n");
    await Deno.writeTextFile(`${workspace}/long.txt`, "0123456789012345678\n".repeat(1_000));
    await Deno.writeFile(`${workspace}/shot.png`, Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 1]));
    await using engine = await startEngine(replies(workspace), { extensions: [guarded], workspace });
    await test(engine, { workspace, shown: (call) => engine.provider.requests[call]?.texts[1] ?? "" });
  });
}

Deno.test("the first call has the text of each file that the request names with @, marked as data", async () => {
  await engineIn(async ({ conversations, branch, provider }, { workspace, shown }) => {
    const ask = async (request: string): Promise<string> => {
      await conversations.ask(branch, request, options);
      return shown(provider.requests.length - 1).slice(request.length);
    };
    assert.equal(
      await ask("Explain @lib/parse.js, please"),
      "\n\n[@lib/parse.js in the request: 31 characters:]\n" +
        "<input~1>\nexport const one = 1;\n</input>\n\n</input~1>",
    );
    for (const request of ["See (@lib/parse.js).", 'Compare @"lib/parse.js" and @lib/parse.js']) {
      const text = await ask(request);
      assert.equal(text.match(/\[@lib\/parse\.js in the request/g)?.length, 1, request);
    }
    assert.match(
      await ask('Shorten @"my file.md"'),
      /^\n\n\[@my file\.md in the request: 8 characters:\]\n<input>\n# Notes/,
    );
    assert.match(
      await ask("What is in @lib?"),
      /\[@lib in the request: a folder with 2 entries:\][^]*lib\/deep\/\nlib\/parse\.js\n/,
    );
    const long = await ask("Read @long.txt");
    assert.match(
      long,
      /: the first 8000 of 20000 characters; fs\.readFile\("long\.txt", \{from: 401\}\) reads the rest:\]/,
    );
    assert.ok(long.length < 8_300);
    const secret = await ask("Look at @.env");
    assert.match(
      secret,
      /\[@\.env in the request: it may hold keys, so fs\.readFile\("\.env"\) asks the user first\]$/,
    );
    for (
      const request of [
        "Ask @alice",
        "mail a@lib/parse.js",
        "Look at @shot.png",
        "@../outside.txt",
        "@/etc/passwd",
        "@",
      ]
    ) {
      assert.equal(await ask(request), "", request);
    }
    for (const name of ["b", "c", "d", "e"]) await Deno.copyFile(`${workspace}/long.txt`, `${workspace}/${name}.txt`);
    const all = await ask("Read @long.txt @b.txt @c.txt @d.txt @e.txt");
    assert.ok(all.length < 25_000);
    assert.match(all, /\[@e\.txt in the request: 20000 characters; fs\.readFile\("e\.txt"\) reads it\]$/);
  });
});

Deno.test("the result names each path after @ that Vis did not attach, and no package or person", async () => {
  await withFolder(async (folder) => {
    const workspace = `${folder}/api`;
    await Deno.mkdir(`${workspace}/lib`, { recursive: true });
    await Deno.writeTextFile(`${workspace}/lib/parse.js`, "export const one = 1;\n");
    await Deno.writeFile(`${workspace}/shot.png`, Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 1]));
    const options = { extensions: [fs], workspace };
    await using engine = await startEngine(Array(20).fill(done), { ...options, readFolders: [] });
    const notes: Readonly<Record<string, readonly string[]>> = {
      "Like @../other/x.ts, please": [
        "@../other/x.ts is not attached: it is outside the workspace; vis --add-dir FOLDER lets Vis read another folder",
      ],
      "(@/etc/none)": [
        "@/etc/none is not attached: it is outside the workspace; vis --add-dir FOLDER lets Vis read another folder",
      ],
      "See @gone.md": ["@gone.md is not attached: there is no such file or folder"],
      "See @lib/gone.js and @./gone": [
        "@lib/gone.js is not attached: there is no such file or folder",
        "@./gone is not attached: there is no such file or folder",
      ],
      "See @shot.png.": ["@shot.png is not attached: Cannot read shot.png: it is a binary file of 8 B"],
      "Use @types/node, @scope/chart.js, @types/lodash.js and @lib/parse; ask @alice or me@lib/x.js": [],
      "Read @lib/parse.js and @lib": [],
    };
    for (const [request, expected] of Object.entries(notes)) {
      assert.deepEqual((await engine.ask(request)).notes, expected, request);
    }
    await using locked = await startEngine([done], options);
    assert.deepEqual((await locked.ask("See @../x.ts")).notes, [
      "@../x.ts is not attached: it is outside the workspace",
    ]);
    await using without = await startEngine([done], { workspace });
    assert.deepEqual((await without.ask("See @./x.ts")).notes, []);
  });
});

Deno.test("a request attaches a file of an added folder, and names it by its absolute path", async () => {
  await withFolder(async (lib) => {
    await Deno.writeTextFile(`${lib}/x.ts`, "export const x = 1;\n");
    await withFolder(async (workspace) => {
      await using engine = await startEngine([done], {
        extensions: [fs],
        workspace,
        readFolders: [lib, `${workspace}/src`],
      });
      const { notes } = await engine.ask(`Like @${lib}/x.ts`);
      assert.match(
        engine.provider.requests[0]?.texts[0] ?? "",
        new RegExp(`^Files of cwd, and of ${lib}, whose changes ask the user\\. `, "m"),
      );
      assert.match(
        engine.provider.requests[0]?.texts[1] ?? "",
        new RegExp(`\\[@${lib}/x\\.ts in the request: 20 char`),
      );
      assert.deepEqual(notes, []);
    });
  });
});

Deno.test("a later call has the named files with the same bytes, and a retry reads them again", async () => {
  const look = replyJson("namedFiles[0].text.length");
  await engineIn(async (engine, { workspace, shown }) => {
    const { conversations, branch } = engine;
    const { queryId } = await conversations.ask(branch, "Explain @lib/parse.js", options);
    assert.match(shown(0), /one = 1/);
    assert.match(engine.context(0), /namedFiles/);
    assert.doesNotMatch(engine.context(0), /one = 1/);
    assert.equal(shown(1), shown(0));
    await Deno.writeTextFile(`${workspace}/lib/parse.js`, "export const two = 2;\n");
    await conversations.retry(queryId, options);
    assert.match(shown(2), /two = 2/);
    assert.doesNotMatch(shown(2), /one = 1/);
    const [, message] = await conversations.preview("Explain @lib/parse.js", { workspace });
    assert.match(JSON.stringify(message), /two = 2/);
  }, () => [look, done, done]);
});

Deno.test("a call has the text of each file that a message to the running request names with @", async () => {
  const told: Promise<boolean>[] = [];
  const at: { engine?: Awaited<ReturnType<typeof startEngine>> } = {};
  const steered = (text: string) => () => {
    told.push(at.engine!.conversations.steer(at.engine!.branch, text));
    return replyJson("const n = 1");
  };
  await engineIn(
    async (engine) => {
      at.engine = engine;
      await engine.conversations.ask(engine.branch, "Count", options);
      assert.deepEqual(await Promise.all(told), [true, true]);
      assert.match(
        engine.context(1),
        /- The user says meanwhile: See @lib\/parse\.js, please\n- @lib\/parse\.js in this message: 31 characters:\n +export const one = 1;/,
      );
      assert.doesNotMatch(engine.context(2), /one = 1/);
      assert.match(engine.context(2), /@long\.txt in this message: the first 2000 of 20000 characters; fs\.readFile/);
      assert.ok(engine.context(2).length < 5_000);
    },
    () => [steered("See @lib/parse.js, please"), steered("And @long.txt"), done],
  );
});

Deno.test("a change of a named file fails if another program has changed the file since the request", async () => {
  const edit = replyJson('await fs.writeFile("lib/parse.js", "mine")');
  const replies = (workspace: string) => [
    () => {
      Deno.writeTextFileSync(`${workspace}/lib/parse.js`, "by the user\n");
      return edit;
    },
    done,
  ];
  await engineIn(async ({ conversations, branch, context }, { workspace }) => {
    await conversations.ask(branch, "Rewrite @lib/parse.js", options);
    assert.match(context(1), /changed on disk since you last read or wrote it/);
    assert.equal(await Deno.readTextFile(`${workspace}/lib/parse.js`), "by the user\n");
  }, replies);
});
