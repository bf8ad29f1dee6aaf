import type { EnvironmentView } from "@vis/extension";

type Spawn = NonNullable<EnvironmentView["spawn"]>;
type Ended = Awaited<ReturnType<Spawn>>;

interface Part {
  readonly codes: readonly number[];
  readonly command: string;
  readonly piped?: boolean;
}

const HIDES = /(?<!\|)\|(?!\|)|[;\n]\s*\S/;
/** A trap for DEBUG makes the commands of a loop many times slower. */
const LOOP = /\b(?:for|while|until|select)\b/;
const REPORTS = 87;
const MOST_PARTS = 8, COMMAND_CHARS = 200;
export const SIGPIPE = 141;
const BROKEN_PIPE = /broken ?pipe|\bEPIPE\b/i;
/** With code 1, these programs report "nothing found" or "different". */
const SAYS_NO =
  /^(?:[!({]\s*|(?:time|if|elif|then|else)\s+|\w+=\S*\s+)*(?:git\s+|xargs\s+(?:-\S+\s+(?:\d+\s+)?)*)?(?:[efz]?grep|rg|ag|ack|diff|cmp|test|\[\[?|which|command|type|expr|pgrep)(?=\s|$)/;

/** A line such as `npm test | tail` ends with the code of `tail`, so bash reports the codes of the parts. A trap in the
 * line for EXIT, ERR or DEBUG replaces these reports. */
export class PartCodes {
  readonly #line: string;
  readonly #token = crypto.randomUUID();
  readonly #failed: Part[] = [];
  readonly #pipelines: readonly (readonly string[])[];
  #last: readonly number[] = [];

  static of(line: string): PartCodes | null {
    return HIDES.test(line) ? new PartCodes(line) : null;
  }

  constructor(line: string) {
    this.#line = line;
    this.#pipelines = pipelinesOf(line);
  }

  /** A redirection resets the line number, which bash prints in its messages. */
  get traced(): string {
    // The last argument keeps $_ for the next command of the line.
    const report = (kind: string, ...values: readonly string[]): string => {
      const format = `${this.#token} ${kind} ${values.map(() => `%.${COMMAND_CHARS}s`).join(":")}%.0s\\n`;
      return `builtin printf "${format}" ${values.map((one) => `"${one}"`).join(" ")} "$_"`;
    };
    const trap = (event: string, body: string): string => `trap '{ ${body} >&${REPORTS}; } 2>/dev/null' ${event}`;
    const codes = "${PIPESTATUS[*]}", command = "${BASH_COMMAND//[[:cntrl:]]/ }";
    const piped = `case "$? ${codes}" in "0 "*[1-9]*" 0") ${report("piped", codes, command)};; esac`;
    const traps = [
      trap("EXIT", report("end", codes)),
      trap("ERR", report("failed", codes, command)),
      ...this.#hasEarlierPipeline ? [`((BASH_VERSINFO < 5)) || ${trap("DEBUG", piped)}`] : [],
    ];
    return `{ exec ${REPORTS}>&2; ${traps.join("; ")}; } 86>&$((LINENO = 0, 2))\n${this.#line}`;
  }

  get asides(): NonNullable<NonNullable<Parameters<Spawn>[1]>["asides"]> {
    return { token: this.#token, hear: (line) => this.#hear(line) };
  }

  get #hasEarlierPipeline(): boolean {
    return this.#pipelines.slice(0, -1).some((parts) => parts.length > 1) && !LOOP.test(unquoted(this.#line));
  }

  #hear(line: string): void {
    const [, kind, codes = "", command = ""] = /^(end|failed|piped) ([\d ]+)(?::(.*))?$/.exec(line) ?? [];
    const numbers = codes.split(" ").slice(0, MOST_PARTS).map(Number);
    if (kind === "end") this.#last = numbers;
    else if (kind !== undefined && this.#failed.length < MOST_PARTS) {
      // Until the next pipeline ends, each further command reports the same codes.
      const before = this.#failed.at(-1);
      const isRepeated = kind === "piped" && before?.piped && before.codes.join() === numbers.join();
      // With the option pipefail, bash reports a pipeline as failed.
      const part: Part = { codes: numbers, command, piped: kind === "piped" || numbers.at(-1) === 0 };
      if (!isRepeated && !this.#isExplained(part)) this.#failed.push(part);
    }
  }

  #isExplained({ codes, command, piped = false }: Part): boolean {
    if (!piped) return false;
    const alike = this.#pipelines.map((parts, at) => ({ parts, next: this.#pipelines[at + 1]?.[0] ?? "" }))
      .filter(({ parts }) => parts.length === codes.length);
    const before = alike.filter(({ next }) => wordOf(next) === wordOf(command));
    return (before.length > 0 ? before : alike)
      .some(({ parts }) => codes.every((code, at) => !isFailure(code, parts[at] ?? "")));
  }

  hiddenBy({ code, timedOut, stderr: printed }: Ended): readonly number[] | null {
    if (code !== 0 || timedOut) return null;
    const isBroken = BROKEN_PIPE.test(printed);
    const failed = this.#failed.filter(({ piped = false }) => !piped || !isBroken);
    // Bash reports the failure that ends a line twice, and `exit 0` reports the failure before it.
    const isSame = failed.at(-1)?.codes.join() === this.#last.join();
    const before = isSame ? failed.slice(0, -1) : failed;
    // If `isEnd` is false, the last codes belong to a condition of `if` or `while`, and no command ran after it.
    const isEnd = this.#last.at(-1) === code;
    const last = isEnd ? this.#last : [...isSame ? this.#last : [], code];
    const names = this.#pipelines.at(-1) ?? [], isNamed = names.length === last.length;
    const hides = failed.some(({ codes, command, piped }) => piped || isFailure(codes.at(-1) ?? 0, command)) ||
      isEnd && !isBroken && last.some((one, at) => isFailure(one, isNamed ? names[at] ?? "" : ""));
    const shown = before.flatMap(({ codes, piped }) => piped ? codes.filter((one) => one !== 0) : codes.slice(-1));
    return hides ? [...shown, ...last] : null;
  }
}

function isFailure(code: number, command: string): boolean {
  return code !== 0 && code !== SIGPIPE && !((code === 1 || code === 123) && SAYS_NO.test(command.trim()));
}

function pipelinesOf(line: string): readonly (readonly string[])[] {
  const pipelines = unquoted(line).split(/;|\n|&&|\|\||(?<![>|])&(?!>)/).filter((part) => part.trim() !== "");
  return pipelines.map((pipeline) => pipeline.split(/\|&?/));
}

function unquoted(line: string): string {
  return line.replace(/'[^']*'|"(?:\\[^]|[^"\\])*"|\\[^]/g, (quoted) => "_".repeat(quoted.length));
}

function wordOf(command: string): string {
  return /^[^\s()<>]+/.exec(command.replace(/^(?:[\s!({]+|(?:time|if|elif|then|else)\s+|\w+=\S*\s+)*/, ""))?.[0] ?? "";
}
