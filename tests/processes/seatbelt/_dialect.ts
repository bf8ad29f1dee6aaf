/** Reads and evaluates the dialect of Seatbelt profiles that Vis writes, as published documentation describes it: the
 * last matching rule decides. It throws for unknown syntax. */

type Node = string | { readonly text: string } | { readonly regex: string } | readonly Node[];

export interface Operation {
  readonly operation: string;
  readonly path?: string;
  readonly vnode?: "REGULAR-FILE" | "DIRECTORY" | "SYMLINK" | "CHARACTER-DEVICE" | "SOCKET";
  /** The name of a service, a setting of the kernel, shared memory, a driver or a policy. */
  readonly name?: string;
  readonly target?: "self" | "same-sandbox" | "others";
  /** An address: `localhost:80`, or `host:80` for another machine. */
  readonly local?: string;
  readonly remote?: string;
  readonly protocol?: "tcp" | "udp";
  readonly domain?: string;
  readonly number?: number;
  readonly extension?: string;
}

interface Rule {
  readonly action: "allow" | "deny";
  readonly operations: readonly string[];
  readonly filters: readonly Node[];
}

/** `deny default` does not cover these operations. */
const LEFT_OPEN = ["process-info", "nvram", "iokit-get-properties", "file-map-executable"];

export class Profile {
  readonly rules: readonly Rule[];
  readonly #parameters: Readonly<Record<string, string>>;

  /** `unknown` has the operations that the system lacks. A rule that names one makes a profile invalid. */
  constructor(text: string, parameters: Readonly<Record<string, string>>, unknown: readonly string[] = []) {
    this.#parameters = parameters;
    const forms = parse(text);
    if (JSON.stringify(forms[0]) !== '["version","1"]') throw new Error("No version");
    this.rules = forms.slice(1).flatMap((form) => rulesOf(form, unknown));
    for (const { filters } of this.rules) for (const filter of filters) this.#matches(filter, { operation: "" });
  }

  allows(one: Operation): boolean {
    let allowed = LEFT_OPEN.some((prefix) => one.operation.startsWith(prefix));
    for (const { action, operations, filters } of this.rules) {
      if (!operations.some((name) => isPart(one.operation, name))) continue;
      if (filters.length > 0 && !filters.some((filter) => this.#matches(filter, one))) continue;
      allowed = action === "allow";
    }
    return allowed;
  }

  #matches(filter: Node, one: Operation): boolean {
    if (!Array.isArray(filter)) throw new Error(`No filter: ${JSON.stringify(filter)}`);
    const [kind, ...args] = filter as readonly Node[];
    const each = (): readonly boolean[] => args.map((inner) => this.#matches(inner, one));
    switch (kind) {
      case "require-all":
        return each().every(Boolean);
      case "require-any":
        return each().some(Boolean);
      case "require-not":
        return !each()[0];
      case "literal":
        return one.path === this.#text(args[0]);
      case "subpath": {
        const folder = this.#text(args[0]);
        return one.path !== undefined && (one.path === folder || one.path.startsWith(`${folder}/`));
      }
      case "regex":
        return one.path !== undefined && regexOf(args[0]).test(one.path);
      case "ipc-posix-name-regex":
        return one.name !== undefined && regexOf(args[0]).test(one.name);
      case "sysctl-name-prefix":
        return one.name?.startsWith(this.#text(args[0])) ?? false;
      case "sysctl-name":
      case "global-name":
      case "iokit-registry-entry-class":
      case "mac-policy-name":
        return one.name === this.#text(args[0]);
      case "extension":
        return one.extension === this.#text(args[0]);
      case "vnode-type":
        return one.vnode === args[0];
      case "target":
        return one.target === args[0] || args[0] === "same-sandbox" && one.target === "self";
      case "socket-domain":
        return one.domain === args[0];
      case "socket-protocol":
      case "fcntl-command":
        return args.some((number) => String(one.number) === number);
      case "local":
      case "remote": {
        const [protocol, address] = args;
        const asked = one[kind];
        if (asked === undefined || protocol !== "ip" && protocol !== one.protocol) return false;
        const [host, port] = this.#text(address).split(":");
        const [itsHost, itsPort] = asked.split(":");
        if (!["*", "localhost"].includes(host ?? "")) throw new Error(`No host of a filter: ${host}`);
        return (host === "*" || host === itsHost) && (port === "*" || port === itsPort);
      }
      default:
        throw new Error(`Unknown filter ${JSON.stringify(kind)}`);
    }
  }

  #text(node: Node | undefined): string {
    if (Array.isArray(node)) {
      const [kind, name] = node as readonly Node[];
      const value = kind === "param" ? this.#parameters[this.#text(name)] : undefined;
      if (value === undefined) throw new Error(`No parameter ${JSON.stringify(node)}`);
      return value;
    }
    if (typeof node === "object" && "text" in node) return node.text;
    throw new Error(`No text: ${JSON.stringify(node)}`);
  }
}

function regexOf(node: Node | undefined): RegExp {
  if (typeof node === "object" && "regex" in node) return new RegExp(node.regex);
  throw new Error("No regular expression");
}

function rulesOf(form: Node, unknown: readonly string[]): Rule[] {
  if (!Array.isArray(form)) throw new Error(`No rule: ${JSON.stringify(form)}`);
  const [head, ...rest] = form as readonly Node[];
  if (head === "if") {
    const [condition, then] = rest as readonly (readonly Node[])[];
    if (condition?.[0] !== "defined?") throw new Error("Unknown condition");
    const [, name] = condition[1] as readonly Node[];
    return unknown.includes(name as string) ? [] : rulesOf(then!, unknown);
  }
  if (head !== "allow" && head !== "deny") throw new Error(`Unknown form ${JSON.stringify(head)}`);
  const operations = rest.filter((one) => typeof one === "string");
  const filters = rest.filter((one) => typeof one !== "string");
  const invalid = operations.find((one) => unknown.includes(one));
  if (invalid !== undefined || operations.length === 0) throw new Error(`unbound variable: ${invalid}`);
  return [{ action: head, operations, filters }];
}

/** `file-read*` includes every operation with that beginning, and `ipc-posix-shm` includes `ipc-posix-shm-read-data`. */
function isPart(operation: string, name: string): boolean {
  if (name === "default") return !LEFT_OPEN.some((prefix) => operation.startsWith(prefix));
  if (name.endsWith("*")) return operation.startsWith(name.slice(0, -1));
  return operation === name || name === "ipc-posix-shm" && operation.startsWith(`${name}-`);
}

function parse(text: string): readonly Node[] {
  const tokens = text.matchAll(
    /\s+|;[^\n]*|#"(?<regex>[^"]*)"|"(?<text>(?:[^"\\]|\\.)*)"|(?<mark>[()'])|(?<word>[^\s()'"#;]+)/gy,
  );
  const open: Node[][] = [[]];
  const quotes: number[] = [];
  let length = 0;
  const add = (node: Node): void => {
    if (quotes.at(-1) === open.length) {
      quotes.pop();
      open.at(-1)!.push(["quote", node]);
    } else open.at(-1)!.push(node);
  };
  for (const { 0: all, groups: { regex, text: string, mark, word } = {} } of tokens) {
    length += all.length;
    if (regex !== undefined) add({ regex });
    else if (string !== undefined) add({ text: string.replaceAll(/\\(.)/g, "$1") });
    else if (word !== undefined) add(word);
    else if (mark === "'") quotes.push(open.length);
    else if (mark === "(") open.push([]);
    else if (mark === ")") {
      const closed = open.pop()!;
      if (open.length === 0) throw new Error("A bracket is closed that was not opened");
      add(closed);
    }
  }
  if (length !== text.length || open.length !== 1) throw new Error(`Cannot read the profile at ${length}`);
  return open[0]!;
}
