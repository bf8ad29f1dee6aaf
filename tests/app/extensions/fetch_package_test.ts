import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { fetchPackage } from "../../../src/app/extensions/extension_admin.ts";
import { withFolder } from "../../helpers/with_folder.ts";

const hashOf = (bytes: Uint8Array) => `sha512-${createHash("sha512").update(bytes).digest("base64")}`;

function archive(text: string): Uint8Array<ArrayBuffer> {
  const field = (value: string, length: number) => value.padEnd(length, "\0");
  const size = text.length.toString(8).padStart(11, "0");
  const head = field("package/vis.json", 124) + field(size, 32) + "0";
  return new TextEncoder().encode(field(head, 512) + field(text, 512) + "\0".repeat(1024));
}

async function withRegistry(
  answer: (path: string, address: string) => Response,
  work: (env: { readonly npm_config_registry: string }, asked: readonly string[]) => Promise<void>,
): Promise<void> {
  const asked: string[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, (request) => {
    const { pathname, origin } = new URL(request.url);
    asked.push(pathname);
    return answer(pathname, origin);
  });
  try {
    await work({ npm_config_registry: `http://127.0.0.1:${server.addr.port}/` }, asked);
  } finally {
    await server.shutdown();
  }
}

const serving = (bytes: Uint8Array<ArrayBuffer>, integrity = hashOf(bytes)) => (path: string, address: string) =>
  path.endsWith(".tgz")
    ? new Response(bytes)
    : Response.json({ dist: { tarball: `${address}/x.tgz`, integrity: `sha1-AAAA ${integrity}` } });

Deno.test("fetchPackage() takes the files of a package from the registry that is set", () =>
  withRegistry(serving(archive("{}")), async (env, asked) => {
    const files = await fetchPackage("npm:@acme/search@1.2.0", env);
    assert.deepEqual([...files].map(([path, bytes]) => [path, new TextDecoder().decode(bytes)]), [["vis.json", "{}"]]);
    await fetchPackage("npm:search", env);
    assert.deepEqual(asked, ["/@acme%2fsearch/1.2.0", "/x.tgz", "/search/latest", "/x.tgz"]);
  }));

for (
  const [what, answer, expected] of [
    [
      "content with another hash",
      serving(archive("{}"), hashOf(archive("[]"))),
      /does not match the registry's checksum/,
    ],
    [
      "a package that is not there",
      () => new Response("no", { status: 404 }),
      /Cannot fetch .*: the registry responded with status 404/,
    ],
    [
      "an answer that is no JSON",
      () => new Response("<html>"),
      /gives no download address or no SHA-512 checksum for it/,
    ],
    [
      "an answer of another shape",
      () => Response.json({ dist: {} }),
      /gives no download address or no SHA-512 checksum for it/,
    ],
    ["too much", () => new Response(endless()), /Cannot fetch .*: its content is larger than 32 MiB, the limit/],
    ["an answer that breaks off", () => new Response(broken()), /Cannot fetch /],
  ] as const
) {
  Deno.test(`fetchPackage() refuses ${what}`, () =>
    withRegistry(
      answer,
      (env) => assert.rejects(fetchPackage("npm:search", env), { name: "UsageError", message: expected }),
    ));
}

Deno.test("fetchPackage() sends no request for an invalid name", () =>
  withRegistry(serving(archive("{}")), async (env, asked) => {
    for (const ref of ["npm:", "npm:../x", "npm:a/b", "npm:@a/../b", "npm:a@1/..", "npm:a b", "npm:a?x"]) {
      await assert.rejects(fetchPackage(ref, env), /write a package such as/, ref);
    }
    assert.deepEqual(asked, []);
  }));

Deno.test("fetchPackage() gives advice if no registry listens, and if npm is missing", () =>
  withFolder(async (folder) => {
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = listener.addr;
    listener.close();
    await assert.rejects(
      fetchPackage("npm:a", { npm_config_registry: `http://127.0.0.1:${port}` }),
      /Cannot fetch http/,
    );
    const script = `import { fetchPackage } from ${
      JSON.stringify(import.meta.resolve("../../../src/app/extensions/extension_admin.ts"))
    };
      await fetchPackage("npm:a", {}).catch((error) => console.log(error.message));`;
    await Deno.writeTextFile(`${folder}/ask.ts`, script);
    const config = new URL("../../../deno.json", import.meta.url).pathname;
    const args = ["run", "-A", "--quiet", "--no-lock", "--config", config, `${folder}/ask.ts`];
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), { args, env: { PATH: folder } }).output();
    const said = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("");
    assert.match(said, /^Cannot find a package registry: .*; set npm_config_registry/);
  }));

function endless(): ReadableStream<Uint8Array> {
  const part = new Uint8Array(1 << 20);
  return new ReadableStream({ pull: (controller) => controller.enqueue(part) });
}

function broken(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode("{")),
    pull: (controller) => controller.error(new Error("broken off")),
  });
}
