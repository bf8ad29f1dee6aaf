import { isAbsolute, normalize, resolve } from "node:path";
import type { ScopePlace } from "../../../src/processes/approved/_command_scopes.ts";

const LINKS: Readonly<Record<string, string>> = {
  npm: "/usr/lib/npm/npm-cli.js",
  python3: "/usr/bin/python3.11",
  sh: "/usr/bin/dash",
  linked: "/usr/bin/busybox",
  evil: "/w/bin/evil",
};

/** A machine that has every program but `unknown`, and the folders `sub` and `link` in the workspace `/w`. */
export const PLACE: ScopePlace = {
  workspace: "/w",
  root: "/w",
  cwd: "/w",
  shell: "sh",
  changeable: ["/w", "/tmp"],
  find: (program) => {
    if (program === "unknown" || program === "NPM") return null;
    if (program.includes("/")) return resolve("/w", program).replace(/^\/usr\/bin\/npm$/, "/usr/lib/npm/npm-cli.js");
    return LINKS[program] ?? `/usr/bin/${program}`;
  },
  folder: (path) => {
    const plain = normalize(path);
    if (plain === "/w/link") return "/srv/other";
    return plain === "/w/sub" || !plain.startsWith("/w/") && isAbsolute(plain) ? plain : null;
  },
};
