import assert from "node:assert/strict";
import { replyJson } from "../../helpers/scripted_provider.ts";
import type { Launcher } from "../_launcher.ts";
import { launched } from "../helpers/together.ts";
import { User } from "../helpers/user.ts";

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);
const SEES = `{ "provider": "shop", "providers": [
  { "name": "shop", "preset": "openai", "models": [{ "name": "mock-1", "images": true }], "baseUrl": "BASE" }
] }`;

export function givenSuite(launcher: Launcher): void {
  launched(launcher, "vis run --schema gives JSON alone that satisfies the schema", async () => {
    await using user = await User.make(launcher, {
      reply: [
        replyJson([], { final: "there are 2" }),
        replyJson("await answer({ total: '2' })"),
        replyJson("await answer({ total: 2 })"),
      ],
    });
    const schema = { properties: { total: { type: "integer" }, name: { pattern: "^\\w+$" } }, required: ["total"] };
    const path = await user.write("counts.schema.json", JSON.stringify(schema));
    const ran = await user.run(["run", "How many?", "--schema", path]);
    assert.deepEqual([ran.code, ran.stdout], [0, '{\n  "total": 2\n}\n'], ran.stderr);
    const third = JSON.stringify(user.mock.requests[2]?.body);
    assert.ok(third.includes("/total must be integer"), third);
  });

  launched(launcher, "vis run --schema says what is wrong with a schema and asks nobody", async () => {
    await using user = await User.make(launcher);
    const path = await user.write("bad.json", '{"properties": {"a": {"type": "text"}}}');
    const ran = await user.run(["run", "How many?", "--schema", path]);
    assert.equal(ran.code, 2);
    assert.match(ran.stderr, /^vis: Cannot use the schema: at #\/properties\/a, type must be one of null, /m);
    assert.equal(user.mock.requests.length, 0);
  });

  launched(launcher, "vis run --image refuses a model that takes none, before any call", async () => {
    await using user = await User.make(launcher);
    const image = await user.write("shelf.png", PNG);
    const ran = await user.run(["run", "What is on it?", "--image", image]);
    assert.equal(ran.code, 2);
    assert.match(
      ran.stderr,
      /^vis: Cannot send images: Vis does not know that mock-1 of [\w.-]+ accepts images; /m,
    );
    assert.equal(user.mock.requests.length, 0);
  });

  launched(launcher, "vis run --image sends it with the request, and shows and replays what is stored", async () => {
    await using user = await User.make(launcher, { reply: [replyJson([], { final: "A shelf" })] });
    await Deno.mkdir(user.path("vis"), { recursive: true });
    await Deno.writeTextFile(user.path("vis/config.jsonc"), SEES.replace("BASE", user.mock.baseUrl));
    const image = await user.write("shelf.txt", PNG);
    const env = { VIS_BASE_URL: "", OPENAI_API_KEY: user.env["VIS_API_KEY"] ?? "" };
    const ran = await user.run(["run", "What is on it?", "--image", image, "-q"], { env });
    assert.deepEqual([ran.code, ran.stdout], [0, "A shelf\n"], ran.stderr);
    const sent = JSON.stringify(user.mock.requests[0]?.body);
    assert.ok(sent.includes("data:image/png;base64,iVBORw0KGgoBAgM="), sent.slice(0, 2_000));

    const none = { VIS_BASE_URL: "", VIS_API_KEY: "", VIS_MODEL: "" };
    const listed = await user.run(["conversations", "list", "--output", "json"], { env: none });
    const [{ conversationId }] = JSON.parse(listed.stdout);
    const shown = await user.run(["conversations", "show", conversationId], { env: none });
    assert.match(shown.stdout, /^> What is on it\?\n> \[image image\/png, 11 bytes\]$/m);
    const replayed = await user.run(["replay", conversationId], { env: none });
    assert.deepEqual([replayed.code, replayed.stdout], [0, "request 1 same · What is on it?\n"], replayed.stderr);
    assert.equal(user.mock.requests.length, 1);
  });
}
