/* A block that replaced `RegExp.prototype.test` would mislead the parser, so the compiler runs in its own context. */
import type { BlockError } from "../../../domain/query/query_schemas.ts";
import type { VariableImage } from "../../../domain/query/variable.ts";
import type { ThrownError } from "../blocks/thrown_error.ts";
import { blockError, type RanBlock, RanBlocks } from "./errors.ts";
import type { StripTypes } from "./parse.ts";
import { prepareBlock, type RefusedBlock, type RunnableBlock } from "./prepare.ts";
import { restoredFault } from "./refusals.ts";
import type { TemplateValues, TextForm } from "./restored_script.ts";
import { render, type Rendered } from "./template.ts";

export type SourceImage = Pick<VariableImage, "name" | "kind" | "source" | "requires" | "summary">;

export interface CompiledBlock extends Omit<RunnableBlock, "map"> {
  readonly defined: readonly string[];
  readonly file: string;
}

export interface CompilerAnswers {
  readonly prepare: CompiledBlock | RefusedBlock;
  readonly describe: BlockError | null;
  readonly restore: readonly (string | null)[];
  readonly render: Rendered;
  readonly endQuery: null;
}

export interface CompilerQuestions {
  readonly prepare: { readonly source: string; readonly iteration: number; readonly index: number };
  readonly describe: ThrownError;
  readonly restore: readonly SourceImage[];
  readonly render: TextForm & { readonly template: string };
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
    render: ({ template, json }) => render(template, { values: this.#values, json }),
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
