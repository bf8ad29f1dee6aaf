/** What the API returns, as far as the page reads it: the schemas of the server and the types behind them. */
import type { z } from "zod";
import type { SearchHitSchema } from "../../channels/schemas/search_hit_schema.ts";
import type { BlockDiff } from "../../domain/query/calls.ts";
import type { ModelTrace } from "../../domain/query/model_call.ts";
import type { BlockResult, Usage } from "../../domain/query/query_schemas.ts";
import type { MarkdownBlock } from "../../markdown/tree.ts";
import type * as schema from "../../channels/http/api/schemas.ts";

export type ApiConversationList = z.infer<typeof schema.ConversationListSchema>;
export type ApiListedConversation = ApiConversationList["items"][number];
export type ConversationDetail = z.infer<typeof schema.ConversationDetailSchema>;
export type ApiConversation = z.infer<typeof schema.ConversationSchema>;
export type ApiServer = z.infer<typeof schema.ServerSchema>;
export type ApiModelList = z.infer<typeof schema.ModelListSchema>;
export type UndoPreview = z.infer<typeof schema.UndoPreviewSchema>;
export type ApiQuery = z.infer<typeof schema.QuerySchema> & Pick<TurnEnd, "answerTree">;
export type Graph = z.infer<typeof schema.GraphSchema>;
export type GraphNode = Graph["nodes"][number];
export type GraphEdge = Graph["edges"][number];
export type ApiSearchHit = z.infer<typeof SearchHitSchema>;
export type ApiMessage = z.infer<typeof schema.MessagesSchema>["messages"][number];
export type ApiVersion = z.infer<typeof schema.VersionSchema>;
export type Variable = z.infer<typeof schema.VariableSchema> & { readonly summary: { readonly shape?: string } };

type QueryRow = z.infer<typeof schema.QuerySchema>;
type Ending =
  | "status"
  | "reason"
  | "answer"
  | "answerType"
  | "confidence"
  | "iterations"
  | "costUsd"
  | "ms"
  | "noAnswer";

/** How a query ended, from its row or from its last event. */
export interface TurnEnd extends Readonly<Pick<QueryRow, Ending>> {
  readonly usage: Pick<Usage, "input" | "output">;
  readonly notes: readonly string[];
  /** The answer if it is in Markdown; absent until it was fetched. */
  readonly answerTree?: readonly MarkdownBlock[] | null;
}

export interface StepMetadata {
  readonly diffs?: readonly BlockDiff[];
  readonly outcome?: string;
  readonly walls?: {
    readonly realm: boolean;
    readonly permissions: boolean;
    readonly process: boolean;
    readonly kernel: { readonly landlock: number; readonly seccomp: boolean };
    readonly failed: readonly string[];
  } | null;
  readonly grants?: Readonly<Record<string, readonly string[]>>;
  readonly extensions?: readonly { readonly namespace: string; readonly version: string }[];
  readonly notes?: readonly string[];
  readonly costUsd?: number | null;
  readonly requestBytes?: number;
  readonly budget?: unknown;
}

type Stored = z.infer<typeof schema.IterationSchema>;

export interface Iteration extends Omit<Stored, "blocks" | "traces" | "metadata"> {
  readonly blocks: readonly {
    readonly code: string;
    readonly result: BlockResult;
    readonly reads: readonly string[];
  }[];
  readonly traces: readonly ModelTrace[];
  readonly metadata: StepMetadata;
}

export interface QueryPage {
  readonly items: readonly ApiQuery[];
  /** Earlier ones. */
  readonly before: number;
}
