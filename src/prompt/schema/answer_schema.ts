import { messageOf, UsageError } from "../../domain/errors.ts";
import { type JsonValue, jsonValue } from "../../domain/kit/json.ts";
import { clip } from "../../domain/kit/text.ts";
import { checkSchema } from "./_check.ts";
import { type SchemaFault, SchemaJudge } from "./_faults.ts";

/** The form of an answer: a value of a block or a variable, or text. */
export type Offered = { readonly value: unknown } | { readonly text: string };

export type Judged =
  | { readonly ok: true; readonly value: JsonValue; readonly text: string }
  | { readonly ok: false; readonly reason: string };

/** Longer schemas are shown up to this length; the whole schema is in `$schema`. */
const SHOWN_CHARS = 4_000;
const HEAD_CHARS = 3_000;
const SHOWN_FAULTS = 5;
const FENCED = /^\s*```(?:json)?[^\S\n]*\n([\s\S]*?)\n?\s*```\s*$/i;

/** The JSON Schema that the answer of one query must satisfy. */
export class AnswerSchema {
  /** The schema as one line of JSON. */
  readonly text: string;
  readonly #judge: SchemaJudge;
  /** Whether text that is not JSON can be the answer; if the schema also allows lists or objects, it is prose. */
  readonly #plainText: boolean;
  #refused: string | null = null;

  /** Throws `UsageError` for an invalid or unsupported schema. */
  constructor(schema: unknown) {
    this.#judge = new SchemaJudge(checkSchema(schema));
    this.text = JSON.stringify(schema);
    try {
      const structures: readonly JsonValue[] = [{}, []];
      this.#plainText = structures.every((value) => this.#judge.judge(value, 1).length > 0);
      this.#judge.judge(null, 1);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new UsageError("Cannot use the schema: it refers to itself without end, or is too much work");
    }
  }

  /** Why the newest answer was refused; null if none was. */
  get refused(): string | null {
    return this.#refused;
  }

  /** The text for `$schema` if the prompt shows only part of it, else null. */
  get variable(): string | null {
    return this.text.length > SHOWN_CHARS ? this.text : null;
  }

  /** The instructions for the model, byte-identical throughout a query. */
  get instructions(): string {
    const { text } = this;
    const shown = text.length <= SHOWN_CHARS
      ? text
      : `${text.slice(0, HEAD_CHARS).replace(/[\ud800-\udbff]$/, "")}\n[… ${
        text.length - HEAD_CHARS
      } of ${text.length} characters are not shown: the whole schema is the string $schema …]`;
    return `The final answer of this request must be JSON that satisfies this JSON Schema; anything else is refused:
${shown}
Best: build the value in code and call answer(value). Or "answer": the name of one variable that holds it, or the JSON itself as a string. No prose, no fence around it.`;
  }

  /** The answer as JSON that satisfies the schema, or why it does not. */
  judge(offered: Offered): Judged {
    const judged = "text" in offered ? this.#text(offered.text) : this.#value(offered.value);
    this.#refused = judged.ok ? null : judged.reason;
    return judged;
  }

  #value(value: unknown): Judged {
    let data: JsonValue;
    try {
      data = jsonValue(value);
    } catch (error) {
      return { ok: false, reason: `The answer is not JSON: ${messageOf(error)}` };
    }
    const first = this.#fit(data);
    if (first.ok || typeof value !== "string") return first;
    const parsed = parse(value);
    const second = parsed.ok ? this.#fit(parsed.value) : first;
    return second.ok || isStructure(parsed) ? second : first;
  }

  #text(text: string): Judged {
    const parsed = parse(text);
    const first: Judged = parsed.ok ? this.#fit(parsed.value) : {
      ok: false,
      reason: `The answer must be JSON that fits the schema, and this is not JSON (${clip(parsed.why, 150)})`,
    };
    if (first.ok || !this.#plainText) return first;
    const second = this.#fit(text);
    return second.ok ? second : first;
  }

  #fit(value: JsonValue): Judged {
    let faults: readonly SchemaFault[];
    try {
      faults = this.#judge.judge(value, SHOWN_FAULTS);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      // The engine's own RangeError is for a stack overflow.
      return { ok: false, reason: "The answer cannot be judged: it is nested too deep, or too much work" };
    }
    if (faults.length === 0) return { ok: true, value, text: JSON.stringify(value, null, 2) };
    const lines = faults.map(({ path, message }) => `${path === "" ? "the value" : clip(path, 200)} ${message}`);
    return { ok: false, reason: `The answer does not fit the schema: ${lines.join("; ")}` };
  }
}

type Parsed = { readonly ok: true; readonly value: JsonValue } | { readonly ok: false; readonly why: string };

function parse(text: string): Parsed {
  try {
    return { ok: true, value: JSON.parse(FENCED.exec(text)?.[1] ?? text) };
  } catch (error) {
    return { ok: false, why: messageOf(error) };
  }
}

function isStructure(parsed: Parsed): boolean {
  return parsed.ok && typeof parsed.value === "object" && parsed.value !== null;
}
