/** `deno task check` fails here if the types of `@vis/extension/testing` in a new folder differ from its source. */
import type * as Source from "../../../src/extension/testing.ts";
import type * as Types from "../../../docs/extend/vis-extension-testing.d.ts";

type Own = Pick<typeof Source, keyof typeof Types>;
export const same = (own: Own): typeof Types => own;
export const back = (types: typeof Types): Own => types;
