/** Reading in the repository around a workspace that is a folder inside it. */
import { staysInside } from "./confine.ts";
import type { EnvironmentView, HostFunction } from "@vis/extension";
import { join, relative, resolve, sep } from "node:path";

/** A reading function that also takes paths of the repository around the workspace: it then works at the top of the
 * repository. Its result has paths relative to the workspace, as always. With `searches`, its options name the
 * paths. */
export function readsAround(read: HostFunction, { searches = false } = {}): HostFunction {
  return async (env, ...args) => {
    const { workspace, root } = env;
    if (root === undefined) return await read(env, ...args);
    const [names, ...options] = args;
    const where: unknown = options[0];
    const place = !searches ? null : isRecord(where) ? where : {};
    const key = place?.["path"] === undefined ? "glob" : "path";
    const given: unknown = place === null ? names : place[key];
    const paths = [given].flat().filter((one) => typeof one === "string").map(plain);
    const isAround = (path: string): boolean => {
      const at = resolve(workspace, path);
      return !staysInside(relative(workspace, at)) && staysInside(relative(root, at));
    };
    if (!paths.some(isAround)) return await read(env, ...args);
    const atTop = (path: string): string => {
      const [not, name] = path.startsWith("!") ? ["!", path.slice(1)] : ["", path];
      return not + (relative(root, resolve(workspace, name)).replaceAll(sep, "/") || ".");
    };
    const named = Array.isArray(given) ? given.map(atTop) : atTop(String(given));
    const moved = place === null ? [named, ...options] : [names, { ...place, [key]: named }, ...options.slice(1)];
    try {
      const back = (path: string): string => relative(workspace, join(root, path)).replaceAll(sep, "/") || ".";
      return placed(await read(viewAt(env, root), ...moved), back);
    } catch (error) {
      if (error instanceof Error) error.message += `; this path is relative to ${root}`;
      throw error;
    }
  };
}

/** The environment of a call as at the top of the repository. It stores nothing there, and a question names the
 * place. */
function viewAt(env: EnvironmentView, root: string): EnvironmentView {
  const { approve } = env;
  const ask: EnvironmentView["approve"] = approve &&
    (({ what, why, scope }) => approve({ what: `in ${root}: ${what}`, why, scope: `${scope} in ${root}` }));
  return Object.create(env, { workspace: { value: root }, home: { value: null }, approve: { value: ask } });
}

function placed(result: unknown, back: (path: string) => string): unknown {
  // Of `glob`; the text of a file is no list.
  if (Array.isArray(result)) return result.map((one) => typeof one === "string" ? back(one) : placed(one, back));
  return isRecord(result) && typeof result["path"] === "string" ? { ...result, path: back(result["path"]) } : result;
}

function plain(path: string): string {
  return path.startsWith("!") ? path.slice(1) : path;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
