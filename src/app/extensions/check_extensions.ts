import { messageOf } from "../../domain/kit/message_of.ts";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { ExtensionCheck } from "../../domain/reports/extension_report.ts";
import { smallTextFile } from "../../domain/kit/small_text_file.ts";
import { jsonOrUndefined } from "../../domain/text/json_or_undefined.ts";
import { messageWithLine } from "../../extension/loading/source_line.ts";
import { discoverFolders, type FoundFolder } from "../../extension/loading/discover.ts";
import type { ActiveExtensions } from "../../extension/registry/registry.ts";
import { buildRegistry } from "./extension_source.ts";
import type { ShippedParts } from "../settings/shipped_parts.ts";
import type { Settings } from "../settings/settings.ts";

const MAX_MS = 10_000;
const Checks = z.array(z.strictObject({
  call: z.string(),
  args: z.array(z.unknown()).default([]),
  result: z.unknown().optional(),
  error: z.string().optional(),
}));

/** Loads a folder like a session, renders its prompt, and makes the calls of its `checks.json`. */
export async function checkExtensions(
  folder: FoundFolder,
  { settings, parts }: { readonly settings: Settings; readonly parts: ShippedParts },
): Promise<readonly ExtensionCheck[]> {
  const { registry, loaded, skipped, folders } = await buildRegistry(settings, parts, {
    folders: [
      ...(await discoverFolders(settings)).filter(({ place, path }) => place === "home" && path !== folder.path),
      folder,
    ],
  });
  const own = loaded.filter(({ namespace }) => folders.get(namespace) === folder);
  const failed = skipped.filter((one) => one.folder === folder || own.some(({ namespace }) => namespace === one.name));
  const view = { envId: "check", conversationId: "check", branchId: "check", depth: 0, workspace: settings.workspace };
  const active = await registry.activate(view);
  return [
    ...failed.map(({ name, reason }) => ({ what: name, ok: false, found: reason })),
    ...own.map(({ namespace, version }) => {
      const there = active.list.some((one) => one.namespace === namespace);
      return { what: namespace, ok: true, found: `${version}${there ? "" : ", not active in this workspace"}` };
    }),
    ...own.length > 0 ? await calls(folder.path, { active, view }) : [],
  ];
}

async function calls(
  path: string,
  { active, view }: {
    readonly active: ActiveExtensions;
    readonly view: Parameters<ActiveExtensions["call"]>[2]["env"];
  },
): Promise<readonly ExtensionCheck[]> {
  const text = await smallTextFile(join(path, "checks.json"));
  if (text === null) return [];
  const checks = Checks.safeParse(jsonOrUndefined(text));
  if (!checks.success) {
    const [issue] = checks.error.issues;
    return [{ what: "checks.json", ok: false, found: `${issue?.path.join(".")}: ${issue?.message}` }];
  }
  const done: ExtensionCheck[] = [];
  for (const { call, args, result, error } of checks.data) {
    const what = `${call}(${args.map((one) => JSON.stringify(one)).join(", ")})`;
    try {
      const got = await active.call(call, args, { env: view, signal: AbortSignal.timeout(MAX_MS) });
      const ok = error === undefined && (result === undefined || isDeepStrictEqual(got, result));
      done.push({ what, ok, found: ok ? "" : `it gave ${JSON.stringify(got)}` });
    } catch (thrown) {
      const message = messageOf(thrown);
      const found = messageWithLine(thrown);
      // deno-lint-ignore vis/no-message-parsing -- checks.json names a part of the message
      done.push({ what, ok: error !== undefined && message.includes(error), found });
    }
  }
  return done;
}
