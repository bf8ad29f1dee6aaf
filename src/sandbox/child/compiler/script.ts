/* The compiler: parses, strips, checks and rewrites code, describes errors in it, and renders answers. The bundle of the
 * compiler is evaluated in a context of its own, which no block reaches: a block that replaces RegExp.prototype.test
 * would mislead the parser. Calls and their results cross as JSON, from `compiler.ts` in the context of the blocks.
 *
 *   prepare.ts          repairs a block and makes a script of it, with `parse.ts`, `refusals.ts` and `rewrite.ts`
 *   declarations.ts     lists the declarations of a block
 *   analysis.ts         finds the names in a syntax tree
 *   positions.ts        maps places between texts
 *   errors.ts           describes thrown errors, with places in the model's text and advice
 *   template.ts         makes the texts of final answers
 *   restored_script.ts  the part that both contexts load
 *   sucrase.ts          the stripper of types, a bundle of its own */
import type { BlockError } from "../../../domain/query/query_schemas.ts";
import type { VariableImage } from "../../../domain/query/variable.ts";
import type { ThrownError } from "../blocks/thrown_error.ts";
import { blockError, type RanBlock, RanBlocks } from "./errors.ts";
import type { StripTypes } from "./parse.ts";
import { prepareBlock, type RefusedBlock, type RunnableBlock } from "./prepare.ts";
import { restoredFault } from "./refusals.ts";
import type { TemplateValues } from "./restored_script.ts";
import { render, type Rendered } from "./template.ts";

export type SourceImage = Pick<VariableImage, "name" | "kind" | "source" | "requires" | "summary">;

/** A block that can run. The compiler keeps the position map. */
export interface CompiledBlock extends Omit<RunnableBlock, "map"> {
  readonly defined: readonly string[];
  readonly file: string;
}

export interface CompilerAnswers {
  readonly prepare: CompiledBlock | RefusedBlock;
  readonly describe: BlockError | null;
  /** For each source, the reason why Vis must not evaluate it, or null. */
  readonly restore: readonly (string | null)[];
  readonly render: Rendered;
  readonly endQuery: null;
}

export interface CompilerQuestions {
  readonly prepare: { readonly source: string; readonly iteration: number; readonly index: number };
  readonly describe: ThrownError;
  readonly restore: readonly SourceImage[];
  readonly render: string;
  readonly endQuery: null;
}

interface BlocksContext {
  readonly loadSucrase: () => StripTypes;
  readonly values: TemplateValues;
}

class Compiler {
  readonly #functions: readonly string[];
  readonly #loadSucrase: () => StripTypes;
  readonly #values: TemplateValues;
  readonly #blocks = new RanBlocks();
  readonly #declared = new Map<string, boolean>();
  #ran: { readonly block: RanBlock; readonly own: readonly string[] } | null = null;

  constructor(functions: readonly string[], { loadSucrase, values }: BlocksContext) {
    this.#functions = functions;
    this.#loadSucrase = loadSucrase;
    this.#values = values;
  }

  readonly answers: {
    readonly [T in keyof CompilerQuestions]: (question: CompilerQuestions[T]) => CompilerAnswers[T];
  } = {
    prepare: (question) => this.#prepare(question),
    describe: (thrown) => this.#describe(thrown),
    restore: (images) => images.map((image) => this.#restore(image)),
    render: (template) => render(template, this.#values),
    endQuery: () => {
      this.#blocks.endQuery();
      return null;
    },
  };

  #prepare({ source, iteration, index }: CompilerQuestions["prepare"]): CompilerAnswers["prepare"] {
    const block = prepareBlock(source, { loadSucrase: this.#loadSucrase });
    if (!block.ok) return block;
    const ran = this.#blocks.add({ code: block.code, map: block.map, source }, { iteration, index });
    const defined = block.declarations.map(({ name }) => name);
    this.#ran = { block: ran, own: defined };
    for (const { name, source: text } of block.declarations) this.#declared.set(name, text.startsWith("async"));
    const { map: _here, ...runnable } = block;
    return { ...runnable, defined, file: ran.file };
  }

  #describe(thrown: ThrownError): CompilerAnswers["describe"] {
    const ran = this.#ran, functions = this.#functions;
    if (!ran) return null;
    const hints = {
      names: [...functions, ...this.#declared.keys()],
      own: ran.own,
      isAsync: (path: string) => this.#declared.get(path) ?? functions.includes(path),
    };
    return blockError(thrown, { block: ran.block, blocks: this.#blocks, hints });
  }

  /** Code is checked before it is evaluated, because it may come from an imported file. */
  #restore(image: SourceImage): string | null {
    const { name, kind, source } = image;
    const isCode = kind === "function" || kind === "class";
    const fault = isCode ? restoredFault(image) : null;
    this.#declared.set(name, fault === null && kind === "function" && source.startsWith("async"));
    if (fault !== null || !isCode) return fault;
    this.#blocks.addRestored(name, source);
    return null;
  }
}

Reflect.set(
  globalThis,
  Symbol.for("sandbox.compiler"),
  (functions: string, blocks: BlocksContext) => {
    const { answers } = new Compiler(JSON.parse(functions), blocks);
    return <T extends keyof CompilerQuestions>(kind: T, question: string): string =>
      JSON.stringify(answers[kind](JSON.parse(question)));
  },
);
