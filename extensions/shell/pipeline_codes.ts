import type { EnvironmentView } from "@vis/extension";

type Spawn = NonNullable<EnvironmentView["spawn"]>;
type Ended = Awaited<ReturnType<Spawn>>;

interface Part {
  readonly codes: readonly number[];
  readonly command: string;
}

const HIDES = /(?<!\|)\|(?!\|)|[;\n]\s*\S/;
/** Ordinary lines do not use this descriptor. */
const REPORTS = 87;
const MOST_PARTS = 8, COMMAND_CHARS = 200;
export const SIGPIPE = 141;
const BROKEN_PIPE = /broken ?pipe|\bEPIPE\b/i;
/** With code 1, these programs report "nothing found" or "different". */
const SAYS_NO =
  /^(?:[!({]\s*|time\s+|\w+=\S*\s+)*(?:git\s+|xargs\s+(?:-\S+\s+(?:\d+\s+)?)*)?(?:[efz]?grep|rg|ag|ack|diff|cmp|test|\[\[?|which|command|type|expr|pgrep)(?=\s|$)/;

/** A line such as `npm test | tail` ends with the code of `tail`, so bash reports the codes of the parts. A trap in the
 * line for EXIT or ERR replaces these reports. */
export class PartCodes {
  readonly #line: string;
  readonly #token = crypto.randomUUID();
  readonly #failed: Part[] = [];
  #last: readonly number[] = [];

  static of(line: string): PartCodes | null {
    return HIDES.test(line) ? new PartCodes(line) : null;
  }

  constructor(line: string) {
    this.#line = line;
  }

  /** A redirection resets the line number, which bash prints in its messages. */
  get traced(): string {
    const report = (kind: string, ...values: readonly string[]): string => {
      const format = `${this.#token} ${kind} ${values.map(() => `%.${COMMAND_CHARS}s`).join(":")}\\n`;
      return `'{ builtin printf "${format}" ${values.map((one) => `"${one}"`).join(" ")} >&${REPORTS}; } 2>/dev/null'`;
    };
    const codes = "${PIPESTATUS[*]}", command = "${BASH_COMMAND//[[:cntrl:]]/ }";
    const traps = [`trap ${report("end", codes)} EXIT`, `trap ${report("failed", codes, command)} ERR`];
    return `{ exec ${REPORTS}>&2; ${traps.join("; ")}; } 86>&$((LINENO = 0, 2))\n${this.#line}`;
  }

  get asides(): NonNullable<NonNullable<Parameters<Spawn>[1]>["asides"]> {
    return { token: this.#token, hear: (line) => this.#hear(line) };
  }

  #hear(line: string): void {
    const [, kind, codes = "", command = ""] = /^(end|failed) ([\d ]+)(?::(.*))?$/.exec(line) ?? [];
    const numbers = codes.split(" ").slice(0, MOST_PARTS).map(Number);
    if (kind === "end") this.#last = numbers;
    else if (kind === "failed" && this.#failed.length < MOST_PARTS) this.#failed.push({ codes: numbers, command });
  }

  hiddenBy({ code, timedOut, stderr: printed }: Ended): readonly number[] | null {
    if (code !== 0 || timedOut) return null;
    // Bash reports the failure that ends a line twice, and `exit 0` reports the failure before it.
    const isSame = this.#failed.at(-1)?.codes.join() === this.#last.join();
    const before = isSame ? this.#failed.slice(0, -1) : this.#failed;
    const last = this.#last.at(-1) === code ? this.#last : [...this.#last, code];
    const names = partsOfLast(this.#line), isNamed = names.length === last.length;
    const isBroken = BROKEN_PIPE.test(printed);
    const hides = before.some(({ codes, command }) => isFailure(codes.at(-1) ?? 0, command)) ||
      !isBroken && last.some((one, at) => isFailure(one, isNamed ? names[at] ?? "" : ""));
    return hides ? [...before.map(({ codes }) => codes.at(-1) ?? 0), ...last] : null;
  }
}

function isFailure(code: number, command: string): boolean {
  return code !== 0 && code !== SIGPIPE && !((code === 1 || code === 123) && SAYS_NO.test(command.trim()));
}

function partsOfLast(line: string): readonly string[] {
  const plain = line.replace(/'[^']*'|"(?:\\[^]|[^"\\])*"|\\[^]/g, (quoted) => "_".repeat(quoted.length));
  const pipeline = plain.split(/;|\n|&&|\|\||(?<![>|])&(?!>)/).findLast((part) => part.trim() !== "") ?? "";
  return pipeline.split(/\|&?/);
}
