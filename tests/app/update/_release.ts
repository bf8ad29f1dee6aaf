import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { publicKeyOf, signature, type SigningKey } from "../../../scripts/release/minisign.ts";
import { tarOf } from "../../../scripts/release/tar.ts";
import { update } from "../../../src/app/update/update.ts";
import type { FoundRelease, InstalledRelease, UpdateRequest } from "../../../src/domain/admin_reports.ts";
import { withFolder } from "../../helpers/with_folder.ts";

const OLD = "#!/bin/sh\necho vis 1.2.0\n";
const CHANGELOG =
  "# Changelog\n\n## 1.10.0 – 2030-01-02\n\n- Newest.\n\n## 1.2.1\n\n- Between.\n\n## 1.2.0\n\n- Old.\n";

export const KEY: SigningKey = { id: Buffer.from("0011223344556677", "hex"), seed: Buffer.alloc(32, 7) };
export const OTHER_KEY: SigningKey = { ...KEY, seed: Buffer.alloc(32, 8) };

export interface TestRelease {
  readonly folder: string;
  readonly url: string;
  readonly program: string;
  readonly found: FoundRelease[];
  answer: ((name: string) => Response | null) | null;
  sign(name: string, key?: SigningKey): Promise<void>;
  edit(change: (index: Index) => void): Promise<void>;
  run(
    request?: Partial<UpdateRequest> & {
      readonly own?: string;
      readonly built?: { readonly from: string | null; readonly publicKey: string | null };
    },
  ): Promise<InstalledRelease | null>;
  files(): readonly string[];
}

interface Index {
  version: string;
  archives: { target: string; name: string; bytes: number; sha256: string }[];
}

/** Publishes a signed release 1.10.0 on loopback, with version 1.2.0 in a folder of its own. Both are shell scripts. */
export async function withRelease(
  work: (release: TestRelease) => Promise<void>,
  { program = "#!/bin/sh\necho vis 1.10.0\n", version = "1.10.0" } = {},
): Promise<void> {
  await withFolder(async (root) => {
    const folder = join(root, "release"), path = join(root, "bin/vis");
    await Deno.mkdir(folder);
    await Deno.mkdir(join(root, "bin"));
    await Deno.writeTextFile(path, OLD, { mode: 0o755 });
    const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
      const name = new URL(request.url).pathname.slice(1);
      const bytes = await Deno.readFile(join(folder, name)).catch(() => null);
      return release.answer?.(name) ?? (bytes ? new Response(bytes) : new Response(null, { status: 404 }));
    });
    const url = `http://127.0.0.1:${server.addr.port}`;
    const release = testRelease({ folder, url, path });
    try {
      await publish(release, { program, version });
      await work(release);
    } finally {
      await server.shutdown();
    }
  });
}

function testRelease({ folder, url, path }: Record<"folder" | "url" | "path", string>): TestRelease {
  const found: FoundRelease[] = [];
  const version = { deno: "", v8: "", compiled: true, target: "test" };
  const sign = async (name: string, key = KEY) => {
    const text = signature(await Deno.readFile(join(folder, name)), { key, comment: `file:${name}` });
    await Deno.writeTextFile(join(folder, `${name}.minisig`), text);
  };
  return {
    ...{ folder, url, found, sign, program: path, answer: null },
    edit: async (change) => {
      const index = JSON.parse(await Deno.readTextFile(join(folder, "latest.json")));
      change(index);
      await Deno.writeTextFile(join(folder, "latest.json"), JSON.stringify(index));
      await sign("latest.json");
    },
    run: async ({ own = "1.2.0", built, ...request } = {}) =>
      await update({
        ...{ from: url, key: publicKeyOf(KEY), check: false, force: false, signal: new AbortController().signal },
        onFound: (one) => found.push(one),
        ...request,
      }, {
        version: { ...version, vis: own },
        config: { update: { from: null, publicKey: null } },
        program: path,
        container: false,
        ...(built ? { release: built } : {}),
      }),
    files: () => [...Deno.readDirSync(join(path, ".."))].map(({ name }) => name).sort(),
  };
}

async function publish(
  { folder, sign }: TestRelease,
  { program, version }: { readonly program: string; readonly version: string },
): Promise<void> {
  const name = `vis-${version}-test.tar.gz`;
  const entry = { name: `vis-${version}/vis`, bytes: new TextEncoder().encode(program), executable: true };
  const readme = { name: `vis-${version}/README.md`, bytes: new Uint8Array(), executable: false };
  const bytes = tarOf([readme, entry], { modifiedAt: 1_000_000_000_000 });
  await Deno.writeFile(join(folder, name), bytes);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const archives = [{ target: "test", name, bytes: bytes.length, sha256 }];
  await Deno.writeTextFile(join(folder, "latest.json"), JSON.stringify({ version, archives, changelog: CHANGELOG }));
  await sign(name);
  await sign("latest.json");
}
