import { isAbsolute, join } from "node:path";
import { parseNetGrant, REALM_GLOBALS } from "../../domain/grants.ts";
import type { ChildAccess } from "../child/setup/child_access.ts";
import type { GrantedPath } from "../confine/access.ts";
import type { SandboxOptions } from "../sandbox.ts";

type GrantOptions = Pick<SandboxOptions, "grants" | "globals" | "workspace" | "environment">;

/** These show other processes and the machine itself. */
const MACHINE = ["/proc", "/sys", "/dev"];
const KINDS = new Set(Object.values<string>(REALM_GLOBALS));
const VARIABLE = /^[A-Za-z_]\w*$/;

/** Grants in the form that every wall takes: addresses parsed, paths absolute and real. Throws for a grant that is not
 * possible exactly as requested; it is never widened. */
export function resolveGrants({ grants, globals = [], workspace = "", environment = {} }: GrantOptions): ChildAccess {
  for (const [kind, names] of Object.entries(grants)) {
    if (!KINDS.has(kind) && names.length > 0) {
      throw new Error(`Cannot grant ${kind} to the sandbox: ${names.join(", ")}`);
    }
  }
  for (const name of globals) {
    const kind = Object.hasOwn(REALM_GLOBALS, name) ? REALM_GLOBALS[name] : undefined;
    if (!kind) throw new Error(`Cannot give the sandbox a global: ${name}`);
    if (grants[kind].length === 0) throw new Error(`Cannot give the sandbox ${name}: nothing is granted for ${kind}`);
  }
  const net = grants.net.map(parseNetGrant);
  return {
    net: net.map(({ host, port }) => host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`),
    ports: [...new Set(net.map(({ port }) => port))],
    read: grants.read.map((path) => realPath("read", { path, workspace })),
    write: grants.write.map((path) => realPath("write", { path, workspace })),
    env: grants.env.map((name) => {
      if (!VARIABLE.test(name)) throw new Error(`Cannot grant env to the sandbox: ${name}`);
      return { name, value: (Object.hasOwn(environment, name) ? environment[name] : null) ?? null };
    }),
    globals: [...globals],
    workspace,
  };
}

function realPath(
  kind: "read" | "write",
  { path, workspace }: { readonly path: string; readonly workspace: string },
): GrantedPath {
  const refuse = (why: string): never => {
    throw new Error(`Cannot grant ${kind} to the sandbox: ${path} ${why}`);
  };
  if (path === "" || (!isAbsolute(path) && workspace === "")) refuse("is not absolute, and there is no workspace");
  try {
    const real = Deno.realPathSync(isAbsolute(path) ? path : join(workspace, path));
    const over = (a: string, b: string): boolean => b === a || b.startsWith(a === "/" ? a : `${a}/`);
    if (MACHINE.some((folder) => over(real, folder) || over(folder, real))) {
      refuse("contains or is part of /proc, /sys or /dev");
    }
    const { isFile, isDirectory } = Deno.statSync(real);
    if (!isFile && !isDirectory) refuse("is neither a file nor a folder");
    return { path: real, folder: isDirectory };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) refuse("does not exist");
    throw error;
  }
}
