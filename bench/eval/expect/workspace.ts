import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Expectation, Seen } from "../agent_task.ts";

const DONE = "Done.";

export function file(path: string, wanted: string): Expectation {
  return {
    right: { answer: DONE, files: { [path]: wanted } },
    check: async ({ workspace }) => {
      const found = await read(workspace, path);
      if (found === null) return `${path} does not exist`;
      return lines(found) === lines(wanted) ? "" : `${path} has other contents`;
    },
  };
}

export function jsonFile(path: string, wanted: unknown): Expectation {
  return {
    right: { answer: DONE, files: { [path]: JSON.stringify(wanted, null, 2) } },
    check: async ({ workspace }) => {
      const found = await read(workspace, path);
      if (found === null) return `${path} does not exist`;
      try {
        return isDeepStrictEqual(JSON.parse(found), wanted) ? "" : `${path} has another value`;
      } catch {
        return `${path} is not JSON`;
      }
    },
  };
}

export function all(...parts: readonly Expectation[]): Expectation {
  const answer = parts.map(({ right }) => right.answer).find((one) => one !== DONE) ?? DONE;
  return {
    right: { answer, files: Object.assign({}, ...parts.map(({ right }) => right.files ?? {})) },
    check: async (seen: Seen) => {
      for (const { check } of parts) {
        const wrong = await check(seen);
        if (wrong !== "") return wrong;
      }
      return "";
    },
  };
}

async function read(workspace: string, path: string): Promise<string | null> {
  try {
    return await Deno.readTextFile(join(workspace, path));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

function lines(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(/[ \t]+$/gm, "").trimEnd();
}
