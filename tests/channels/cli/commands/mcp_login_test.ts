import assert from "node:assert/strict";
import { runCli } from "../../../../src/channels/cli/cli.ts";
import { fakeIo, fakeServices } from "../_fakes.ts";

Deno.test("vis mcp login and logout are commands of the extension, whose text is made visible", async () => {
  const services = fakeServices({});
  const admin = await services.extensionAdmin({});
  const asked: (readonly string[])[] = [];
  const vis = async (words: readonly string[], code: number | null) => {
    const io = fakeIo({ args: ["mcp", ...words] });
    const run = (args: readonly string[], { print }: { readonly print: (text: string) => void }) => {
      asked.push(args);
      print("said\u001b[2J\n");
      return Promise.resolve(code);
    };
    const told = await runCli({ ...services, extensionAdmin: () => Promise.resolve({ ...admin, run }) }, io);
    assert.ok(!io.err.includes("\u001b"));
    return { told, err: io.err };
  };
  assert.equal((await vis(["login", "hub", "--paste"], 1)).told, 1);
  assert.equal((await vis(["login", "hub"], 0)).told, 0);
  assert.equal((await vis(["logout", "hub"], 0)).told, 0);
  assert.deepEqual(asked, [["mcp-login", "hub", "--paste"], ["mcp-login", "hub"], ["mcp-logout", "hub"]]);
  const { told, err } = await vis(["login", "hub"], null);
  assert.equal(told, 2);
  assert.match(err, /no extension uses them/);
});
