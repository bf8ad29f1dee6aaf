import type { VariableImage } from "../../../domain/query/variable.ts";
import { bareList } from "../../codec/intrinsics.ts";
import { captured, look } from "../realm/captured.ts";
import type { ScriptSource } from "../scripts.ts";
import { refusedImage } from "../variables/restore.ts";
import type { CompilerAnswers, CompilerQuestions, SourceImage } from "./compiler_script.ts";
import type { TemplateValues } from "./restored_script.ts";

type Ask = (kind: keyof CompilerQuestions, question: string) => string;
type Make = (
  functions: string,
  blocks: { readonly loadSucrase: () => unknown; readonly values: TemplateValues },
) => Ask;

interface CompilerOptions {
  readonly compiler: ScriptSource;
  readonly sucrase: ScriptSource;
  readonly functions: readonly string[];
  readonly values: TemplateValues;
}

/** The compiler returns only text, because an object of the compiler's context would lead a block to the prototypes of
 * the parser. */
export class Compiler {
  readonly #ask: Ask;

  constructor({ compiler, sucrase, functions, values }: CompilerOptions) {
    const context = captured.createContext({}, { codeGeneration: { strings: false, wasm: false } });
    const take = new captured.Script("(key) => globalThis[key]").runInContext(context);
    const valueOf = ({ text, cache }: ScriptSource, { name, key }: { name: string; key: symbol }): unknown => {
      const script = new captured.Script(text, { filename: name, ...cache && { cachedData: cache } });
      script.runInContext(context)();
      return take(key);
    };
    const make = valueOf(compiler, COMPILER) as Make;
    this.#ask = make(look.stringify(functions), { loadSucrase: () => valueOf(sucrase, SUCRASE), values });
  }

  prepare(block: CompilerQuestions["prepare"]): CompilerAnswers["prepare"] {
    return this.#answer("prepare", block);
  }

  describe(thrown: CompilerQuestions["describe"]): CompilerAnswers["describe"] {
    return this.#answer("describe", thrown);
  }

  checked(images: readonly VariableImage[]): readonly VariableImage[] {
    const sources = bareList<SourceImage>(), checked = bareList<VariableImage>();
    for (let i = 0; i < images.length; i++) {
      const { name, kind, source, requires, summary } = images[i]!;
      sources[i] = { name, kind, source, requires, summary };
    }
    const faults = this.#answer("restore", sources);
    for (let i = 0; i < images.length; i++) {
      const fault = faults[i];
      checked[i] = typeof fault === "string" ? refusedImage(images[i]!, fault) : images[i]!;
    }
    return checked;
  }

  render(answer: CompilerQuestions["render"]): CompilerAnswers["render"] {
    return this.#answer("render", answer);
  }

  endQuery(): void {
    this.#answer("endQuery", null);
  }

  #answer<T extends keyof CompilerQuestions>(kind: T, question: CompilerQuestions[T]): CompilerAnswers[T] {
    return look.parse(this.#ask(kind, look.stringify(question))) as CompilerAnswers[T];
  }
}

const COMPILER = { name: "sandbox.compiler", key: Symbol.for("sandbox.compiler") };
const SUCRASE = { name: "sandbox.sucrase", key: Symbol.for("sandbox.sucrase") };
