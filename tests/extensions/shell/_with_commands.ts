import assert from "node:assert/strict";
import fs from "../../../extensions/fs/mod.ts";
import shell from "../../../extensions/shell/mod.ts";
import { ExtensionRegistry } from "../../../src/extension/registry.ts";
import type { EnvironmentView, FileChanges } from "../../../src/extension/mod.ts";
import { Workspace } from "../fs/_workspace.ts";

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

interface Run {
  readonly code: number;
  readonly changes?: FileChanges;
}

export async function withCommands(
  files: Readonly<Record<string, string>>,
  test: (at: {
    readonly workspace: Workspace;
    run(command: string): Promise<Run>;
    // deno-lint-ignore no-explicit-any
    call(name: string, ...args: unknown[]): Promise<any>;
    abortable(signal: AbortSignal, name: string, ...args: unknown[]): Promise<unknown>;
    readonly diffs: string[];
    git(...args: string[]): Promise<void>;
  }) => Promise<void>,
): Promise<void> {
  await using workspace = await Workspace.with(files);
  const diffs: string[] = [];
  const spawn: EnvironmentView["spawn"] = async (argv, options = {}) => {
    const [program = "", ...args] = argv;
    const child = new Deno.Command(program, {
      args,
      cwd: workspace.root,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const writer = child.stdin.getWriter();
    if (typeof options.input === "string") await writer.write(new TextEncoder().encode(options.input));
    await writer.close();
    options.signal?.addEventListener("abort", () => child.kill("SIGKILL"));
    const outputs = { stdout: "", stderr: "" };
    const read = async (name: "stdout" | "stderr"): Promise<void> => {
      for await (const bytes of child[name]) {
        outputs[name] += new TextDecoder().decode(bytes);
        options.onOutput?.(name, new Uint8Array(bytes));
      }
    };
    const [{ code, signal }] = await Promise.all([child.status, read("stdout"), read("stderr")]);
    options.signal?.throwIfAborted();
    return { code, signal, ...outputs, ms: 1, timedOut: false, truncated: false, notes: [] };
  };
  const registry = new ExtensionRegistry({ log: SILENT, home: workspace.home });
  for (const extension of [fs, shell]) registry.register(extension);
  const closed = new AbortController();
  const env: EnvironmentView = {
    ...workspace.env,
    envId: crypto.randomUUID(),
    closed: closed.signal,
    spawn,
    changedFile: (diff) => void diffs.push(diff),
  };
  const active = await registry.activate(env);
  const abortable = (signal: AbortSignal, name: string, ...args: unknown[]) =>
    active.call(name, args, {
      env: { ...env, signal, spawn: (argv, options) => spawn(argv, { ...options, signal }) },
      signal,
    });
  const call = (name: string, ...args: unknown[]) => abortable(new AbortController().signal, name, ...args);
  try {
    await test({
      workspace,
      diffs,
      call,
      abortable,
      run: async (command) => await call("shell.run", command) as Run,
      git: async (...args) => {
        const own = ["-c", "user.name=a", "-c", "user.email=a@b.c", ...args];
        const { success } = await new Deno.Command("git", { args: own, cwd: workspace.root }).output();
        assert.ok(success, args.join(" "));
      },
    });
  } finally {
    closed.abort();
  }
}
