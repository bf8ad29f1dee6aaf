import assert from "node:assert/strict";
import { bundled, denoServer, missing, withServers } from "./_place.ts";

const test = (name: string, run: () => Promise<void>): void =>
  Deno.test({ name: missing ? `${name} (${missing})` : name, ignore: missing !== "", fn: run });

test("mcp: server-everything over stdio: tools, structured data, images, links, errors, resources, prompts", async () => {
  await withServers({ everything: denoServer(await bundled("everything")) }, async ({ call, begin }) => {
    const list = String(await call("mcp.tools", ["everything", "sum"]));
    assert.match(list, /^everything: 1 of 13 tools\. Called by mcp\.call\("everything", tool, args\) now:/);
    assert.match(
      list,
      /everything\.get_sum\(args: \{a: number .*b: number .*\}\): Promise<unknown> {2}\/\/ .*\(its name is "get-sum"\)/,
    );
    const run = (tool: string, args?: object) => call("mcp.call", ["everything", tool, ...args ? [args] : []]);
    assert.equal(await run("echo", { message: "ü\n" }), "Echo: ü\n");
    assert.deepEqual(Object.keys(await run("get-structured-content", { location: "New York" }) as object).sort(), [
      "conditions",
      "humidity",
      "temperature",
    ]);
    const image = (await run("get-tiny-image") as { type: string; bytes?: Uint8Array }[]).find((one) => one.bytes);
    assert.deepEqual([image?.type, image?.bytes?.subarray(1, 4)], ["image", new TextEncoder().encode("PNG")]);
    const links = await run("get-resource-links", { count: 2 }) as { type: string; uri?: string }[];
    assert.equal(links.filter(({ type }) => type === "link").length, 2);
    await assert.rejects(
      run("get-sum", { a: "x", b: 1 }),
      /expected number, received string at a; usage: mcp\.call\("everything", "get-sum", args: /,
    );
    await assert.rejects(run("get-sun", { a: 1 }), /the server has no tool of this name; did you mean get-sum/);
    await assert.rejects(run("sum", { a: 1 }), /the server has no tool of this name; did you mean get-sum/);
    assert.deepEqual(Object.keys(await run("get-env") as object).sort(), [
      "DENO_NO_UPDATE_CHECK",
      "GIT_OPTIONAL_LOCKS",
      "HOME",
      "LANG",
      "PATH",
      "TERM",
      "TMPDIR",
    ]);
    const [piece] = await call("mcp.read", ["everything", "demo://resource/dynamic/text/1"]) as { text?: string }[];
    assert.match(piece?.text ?? "", /Resource 1/);
    assert.ok(
      (await call("mcp.resources", ["everything"]) as { template: boolean }[]).some(({ template }) => template),
    );
    assert.ok(
      (await call("mcp.prompts", ["everything"]) as { name: string }[]).some(({ name }) => name === "args-prompt"),
    );
    const [message] = await call("mcp.prompt", ["everything", "args-prompt", { city: "Bern" }]) as {
      content: object;
    }[];
    assert.match(JSON.stringify(message), /Bern/);
    // The alias exists from the next query on, and its errors show it.
    const active = await begin();
    assert.ok(active.functions.includes("everything.get_sum"));
    assert.match(String(await call("everything.get_sum", [{ a: 2, b: 3 }])), /5/);
    assert.match(active.doc("everything.get_sum") ?? "", /everything\.get_sum\(args: \{a: number/);
    await assert.rejects(call("everything.get_sum", [{ a: 2 }]), /args lacks b; usage: everything\.get_sum\(args: /);
    assert.equal(active.blocks.length, 1);
  });
});

test("mcp: server-memory keeps its file only in a writable folder", async () => {
  const file = await bundled("memory");
  const server = (write: readonly string[]) => ({
    ...denoServer(file),
    env: { MEMORY_FILE_PATH: "${workspace}/memory.jsonl" },
    write,
  });
  const entities = [{ name: "Ada", entityType: "person", observations: ["writes programs"] }];
  await withServers({ open: server(["."]), shut: server([]) }, async ({ call, workspace }) => {
    const path = `${workspace}/memory.jsonl`;
    for (const [name, works] of [["shut", false], ["open", true]] as const) {
      const made = call("mcp.call", [name, "create_entities", { entities }]);
      if (works) assert.match(JSON.stringify(await made), /Ada/);
      else await assert.rejects(made, /Cannot finish create_entities: .*(EROFS|EACCES|denied)/s);
      assert.equal(await Deno.stat(path).then(() => true, () => false), works);
    }
  });
});

test("mcp: server-filesystem reads the workspace, and the wall keeps it from the rest", async () => {
  const file = await bundled("filesystem");
  const files = { ...denoServer(file, "/"), destructive: true };
  await withServers({ files }, async ({ call, workspace, home }) => {
    await Deno.writeTextFile(`${workspace}/a.txt`, "of the workspace");
    await Deno.writeTextFile(`${home}/secret.txt`, "of the user");
    const read = (path: string) => call("mcp.call", ["files", "read_text_file", { path }]);
    assert.match(JSON.stringify(await read(`${workspace}/a.txt`)), /of the workspace/);
    await assert.rejects(read(`${home}/secret.txt`), /Cannot finish read_text_file: .*(EROFS|EACCES|denied)/s);
    await assert.rejects(
      call("mcp.call", ["files", "write_file", { path: `${workspace}/b.txt`, content: "x" }]),
      /Cannot finish write_file: .*(EROFS|EACCES|denied)/s,
    );
  });
});

test("mcp: a tool that its server marks as destructive runs only if the user allows it", async () => {
  const files = { ...denoServer(await bundled("filesystem"), "${workspace}"), write: ["."] };
  await withServers({ files }, async ({ call, approvals, workspace }) => {
    const write = (content: string) =>
      call("mcp.call", ["files", "write_file", { path: `${workspace}/b.txt`, content }]);
    await assert.rejects(
      write("x"),
      /Cannot call the tool write_file .* the server marks it as destructive, and no user can answer here; .*extensions\.config\.vis\.mcp\.servers\.files\.destructive true/,
    );
    approvals.answer = { allowed: false, reason: "the user said no: keep it" };
    await assert.rejects(
      write("x".repeat(5_000)),
      /its arguments have 50\d\d characters, and a question shows at most 3000 \(.*\); pass less at once$/,
    );
    assert.equal(approvals.asked.length, 0);
    await assert.rejects(write("x".repeat(2_000)), /the user said no: keep it/);
    await assert.rejects(Deno.stat(`${workspace}/b.txt`), Deno.errors.NotFound);
    approvals.answer = { allowed: true, reason: "" };
    await write("kept");
    assert.equal(await Deno.readTextFile(`${workspace}/b.txt`), "kept");
    await call("mcp.call", ["files", "read_text_file", { path: `${workspace}/b.txt` }]);
    assert.deepEqual(
      approvals.asked.map(({ scope }) => scope),
      Array(2).fill("the tool write_file of the MCP server files"),
    );
    assert.match(approvals.asked[0]?.exact ?? "", /"content":"x{2000}"\}$/);
  });
});
