/** What the compiler is asked, and its answers. They cross between its context and that of the blocks as JSON. */
import type { BlockError } from "../../../domain/query/query_schemas.ts";
import type { VariableImage } from "../../../domain/query/variable.ts";
import type { ThrownError } from "../errors/thrown_error.ts";
import type { RefusedBlock, RunnableBlock } from "../prepare/prepare_block.ts";
import type { Rendered } from "../view/render_template.ts";

export type SourceImage = Pick<VariableImage, "name" | "kind" | "source" | "requires" | "summary">;

/** A block that can be run. The compiler keeps the position map. */
export interface CompiledBlock extends Omit<RunnableBlock, "map"> {
  /** Names that the block declares. */
  readonly defined: readonly string[];
  /** File name under which the code is compiled. */
  readonly file: string;
}

export interface CompilerAnswers {
  readonly prepare: CompiledBlock | RefusedBlock;
  /** Of an error of the block that was prepared last. */
  readonly describe: BlockError | null;
  /** Why each source must not be evaluated; null if it may. */
  readonly restore: readonly (string | null)[];
  readonly render: Rendered;
  readonly endQuery: null;
}

export interface CompilerQuestions {
  readonly prepare: { readonly source: string; readonly iteration: number; readonly index: number };
  readonly describe: ThrownError;
  readonly restore: readonly SourceImage[];
  /** A template of a final answer. */
  readonly render: string;
  readonly endQuery: null;
}
