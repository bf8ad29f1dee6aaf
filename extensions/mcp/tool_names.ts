import { validate } from "@vis/extension";

/** Names that every object has, or that would turn the alias into a promise. */
const UNUSABLE = ["then", "constructor", "prototype", "__proto__", "toJSON"];

/** Maps names of tools to valid identifiers: other characters become `_`, and duplicates get a number. */
export function symbolNames(names: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  // A valid name is kept, even if others would be mapped to it.
  const taken = new Set(names.filter((name) => identifier(name) === name));
  for (const name of names) {
    if (found.has(name)) continue;
    const plain = identifier(name);
    let symbol = plain;
    for (let count = 2; symbol !== name && taken.has(symbol); count++) symbol = `${plain}_${count}`;
    taken.add(symbol);
    found.set(name, symbol);
  }
  return found;
}

const SHIPPED = ["fs", "shell", "git", "web", "rlm", "history", "mcp", "skills", "memo", "debug"];

/** The alias of a server; a name that Vis or the sandbox uses gets a suffix. */
export function aliasName(server: string): string {
  const name = identifier(server);
  return SHIPPED.includes(name) || !isFree(name) ? `${name}_mcp` : name;
}

/** Whether an extension may use it as its alias. */
function isFree(alias: string): boolean {
  try {
    validate({ namespace: "vis.mcp.server", alias: { ns: "vis.ext.mcp.server", alias }, doc: "-", version: "1.0.0" });
    return true;
  } catch {
    return false;
  }
}

function identifier(name: string): string {
  const plain = name.replace(/[^\w$]/g, "_").slice(0, 64);
  return /^\d/.test(plain) || plain === "" || UNUSABLE.includes(plain) ? `_${plain}` : plain;
}
