import { UsageError } from "../../../domain/errors.ts";
import { counted, shellText } from "../../../domain/kit/text.ts";
import type { ExtensionAdmin, ExtensionCheck, ExtensionFacts, TrustFacts } from "../../../domain/admin_reports.ts";
import { printReport } from "../output.ts";
import type { CommandInput } from "../program/command.ts";

type Input<Flags = unknown> = CommandInput<Flags & { readonly json: boolean; readonly cwd?: string }>;

const MIN_HASH = 12;

export async function listExtensions(input: Input): Promise<number> {
  const all = await (await adminOf(input)).list();
  return printReport(all, all.map(factLine), input);
}

export async function showExtension(name: string, input: Input): Promise<number> {
  const { text, ...facts } = await (await adminOf(input)).show(name);
  return printReport({ ...facts, text }, [factLine(facts), "", text], input);
}

export async function extensionsCheck(
  path: string | undefined,
  input: Input<{ readonly watch: boolean }>,
): Promise<number> {
  const { watch } = input.flags;
  const admin = await adminOf(input);
  if (watch && path === undefined) {
    throw new UsageError("Cannot watch the extensions: no folder is named; name the folder of one extension");
  }
  const check = async (): Promise<number> => {
    const checks = await admin.check(path ?? null);
    printReport(checks, checks.map(checkLine), input);
    return checks.every(({ ok }) => ok) ? 0 : 1;
  };
  const code = await check();
  if (!watch || path === undefined) return code;
  for await (const _ of admin.changes(path)) {
    input.io.stdout("\n");
    await check();
  }
  return code;
}

export async function extensionsTest(path: string | undefined, input: Input): Promise<number> {
  const tests = await (await adminOf(input)).test(path ?? ".");
  printReport(tests, tests.map(checkLine), input);
  return tests.every(({ ok }) => ok) ? 0 : 1;
}

export async function makeExtension(name: string, input: Input): Promise<number> {
  const folder = await (await adminOf(input)).create(name);
  return printReport({ folder }, [
    `Written to ${folder}`,
    `Check it with: vis extensions check ${name}`,
    `Run its tests with: vis extensions test ${name}`,
    `Use it with: vis run --extension ${name} "…", or vis extensions add ${name}`,
  ], input);
}

export async function addExtension(from: string, input: Input<{ readonly force: boolean }>): Promise<number> {
  const folder = await (await adminOf(input)).add(from, { replace: input.flags.force });
  return printReport({ folder }, [`Added ${folder}`], input);
}

export async function removeExtension(name: string, input: Input): Promise<number> {
  const folder = await (await adminOf(input)).remove(name);
  return printReport({ folder }, [`Removed ${folder}`], input);
}

export async function trustExtensions(
  path: string | undefined,
  input: Input<{ readonly yes: boolean; readonly hash?: string; readonly remove: boolean }>,
): Promise<number> {
  const { yes, hash, remove } = input.flags;
  const admin = await adminOf(input);
  const found = await admin.trustable(path ?? null);
  if (remove) {
    for (const one of found) await admin.distrust(one.path);
    return printReport(
      found.map((one) => ({ ...one, trusted: false })),
      found.map((one) => `Not trusted: ${one.path}`),
      input,
    );
  }
  if (hash !== undefined && hash.length < MIN_HASH) {
    throw new UsageError(
      `Cannot trust an extension by the hash ${hash}: it has ${
        counted(hash.length, "character")
      }; write at least ${MIN_HASH}`,
    );
  }
  const chosen = found.filter((one) => hash === undefined ? yes : one.hash.startsWith(hash));
  if (hash !== undefined && chosen.length === 0) {
    throw new UsageError(
      `Cannot trust an extension by the hash ${hash}: no hash begins with it; vis extensions trust lists the hashes`,
    );
  }
  for (const one of chosen) await admin.trust(one);
  const all = found.map((one) => ({ ...one, trusted: one.trusted || chosen.includes(one) }));
  const open = all.filter(({ trusted }) => !trusted);
  const last = all.length === 0 ? ["This workspace has no extensions in .vis"] : open.length > 0
    ? [
      `Extensions run with your permissions. Review them, then run: vis extensions trust ${
        path === undefined ? "" : `${shellText([path])} `
      }--yes`,
    ]
    : [];
  printReport(all, [...all.flatMap(trustLines), ...last], input);
  return open.length === 0 ? 0 : 1;
}

function checkLine({ what, ok, found, skipped = false }: ExtensionCheck): string {
  return `${skipped ? "–" : ok ? "✓" : "✗"} ${what}${found ? `  ${found}` : ""}`;
}

async function adminOf({ services, flags }: Input): Promise<ExtensionAdmin> {
  return await services.extensionAdmin({ cwd: flags.cwd });
}

function factLine({ name, place, state, version, alias, doc, path, reason, commands }: ExtensionFacts): string {
  const from = path === "" ? place : `${place} ${path}`;
  if (state !== "loaded") return `${state === "off" ? "○" : "✗"} ${name}  ${from}\n    ${reason}`;
  const adds = commands.length > 0 ? `  (vis ${commands.join(", vis ")})` : "";
  return `✓ ${name} ${version}  ${alias}  ${doc}${adds}  [${from}]`;
}

function trustLines({ path, hash, trusted, files, extensions }: TrustFacts): readonly string[] {
  return [
    `${trusted ? "trusted" : "not trusted"}  ${path}`,
    `  sha256 ${hash}`,
    ...extensions.map(({ namespace, version, requires, allow }) => {
      const asks = [...requires.map((one) => `requires ${one}`), ...allow.map((one) => `allows the sandbox ${one}`)];
      return `  ${namespace} ${version}${asks.length > 0 ? `: ${asks.join(", ")}` : ""}`;
    }),
    ...files.map((file) => `    ${file.path} (${file.bytes} bytes)`),
  ];
}
