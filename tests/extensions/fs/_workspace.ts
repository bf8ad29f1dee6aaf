import { dirname, join } from "node:path";
import fs from "../../../extensions/fs/mod.ts";
import { HostCallError } from "../../../src/domain/errors.ts";
import { sourceFault } from "../../../src/environment/syntax_fault.ts";
import { ExtensionRegistry } from "../../../src/extension/registry.ts";
import type { EnvironmentView } from "../../../src/extension/mod.ts";

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

export class Workspace implements AsyncDisposable {
  readonly #base: string;
  readonly root: string;
  /** A folder next to the workspace, which must not be reached. */
  readonly outside: string;
  readonly home: string;
  readonly env: EnvironmentView;
  readonly notes: string[] = [];

  constructor(base: string) {
    this.#base = base;
    this.root = join(base, "app");
    this.outside = join(base, "app2");
    this.home = join(base, "home");
    const own = { envId: "env", conversationId: crypto.randomUUID(), branchId: "b", depth: 0, workspace: this.root };
    this.env = { ...own, note: (text) => void this.notes.push(text), sourceFault };
  }

  static async with(files: Readonly<Record<string, string | Uint8Array>> = {}): Promise<Workspace> {
    const workspace = new Workspace(await Deno.realPath(await Deno.makeTempDir()));
    await Deno.mkdir(workspace.root);
    await Deno.mkdir(workspace.outside);
    await Deno.writeTextFile(join(workspace.outside, "secret.txt"), "secret\n");
    for (const [path, content] of Object.entries(files)) await workspace.put(path, content);
    return workspace;
  }

  async put(path: string, content: string | Uint8Array): Promise<void> {
    const file = join(this.root, path);
    await Deno.mkdir(dirname(file), { recursive: true });
    await Deno.writeFile(file, typeof content === "string" ? new TextEncoder().encode(content) : content);
  }

  async text(path: string): Promise<string> {
    return await Deno.readTextFile(join(this.root, path));
  }

  async names(path = "."): Promise<string[]> {
    return (await Array.fromAsync(Deno.readDir(join(this.root, path)))).map(({ name }) => name).sort();
  }

  // deno-lint-ignore no-explicit-any
  async call(name: string, ...args: unknown[]): Promise<any> {
    return await this.callWith({ name, args, signal: new AbortController().signal });
  }

  async callWith(call: { name: string; args: unknown[]; signal: AbortSignal }): Promise<unknown> {
    const registry = new ExtensionRegistry({ log: SILENT, home: this.home });
    registry.register(fs);
    const active = await registry.activate(this.env);
    return await active.call(`fs.${call.name}`, call.args, { env: this.env, signal: call.signal });
  }

  async refusal(name: string, ...args: unknown[]): Promise<string> {
    try {
      await this.call(name, ...args);
    } catch (error) {
      if (error instanceof HostCallError) return error.message;
      throw error;
    }
    throw new Error(`fs.${name} did not fail`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.#base, { recursive: true });
  }
}
