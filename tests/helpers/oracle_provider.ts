import type { Capabilities } from "../../src/providers/provider.ts";
import {
  type ScriptedProvider,
  scriptedProvider,
  type ScriptedReplyParts,
  type ScriptedRequest,
} from "./scripted_provider.ts";

export interface OracleScript {
  readonly iteration: (turn: OracleTurn) => string | Error | ScriptedReplyParts;
  readonly plain?: (prompt: string) => string | Error | ScriptedReplyParts;
  readonly capabilities?: Partial<Capabilities>;
}

export interface OracleTurn extends ScriptedRequest {
  readonly asked: string;
  readonly number: number;
}

/** The replies depend only on the request, so calls may arrive in any order. */
export function oracleProvider({ iteration, plain = () => "", capabilities = {} }: OracleScript): ScriptedProvider {
  return scriptedProvider([], {
    capabilities,
    otherwise: (request) => {
      const number = /^\[iter (\d+)\//m.exec(request.context)?.[1];
      if (request.texts.length < 3 || number === undefined) return plain(request.context);
      return iteration({ ...request, asked: request.texts[1] ?? "", number: Number(number) });
    },
  });
}
