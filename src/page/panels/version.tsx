import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { coloured } from "../parts/coloured.tsx";
import { ShownDiff } from "../parts/shown_diff.tsx";
import { Pre } from "../parts/pre.tsx";
import { json } from "../store/api.ts";
import type { ApiVersion } from "../store/api_types.ts";

/** One version of a variable; `path` is that of the variable in the API. */
export function Version(
  { path, version: given }: { readonly path: string; readonly version: ApiVersion },
): JSX.Element {
  const { version, value, chars, shape, reason, code, createdAt } = given;
  const [diff, show] = useState<JSX.Element | null>(null);
  const cut = value !== null && (chars ?? 0) > value.length ? ` · first ${value.length} of ${chars} characters` : "";
  const compare = async (): Promise<void> => show(await difference(`${path}/diff?from=${version - 1}&to=${version}`));
  return (
    <section>
      <h3>
        {`v${version} · ${new Date(createdAt).toLocaleString()}${cut} `}
        {version > 1 && <Button class="quiet" run={compare}>{`compare with v${version - 1}`}</Button>}
      </h3>
      <Pre label="Value" text={reason || (value ?? shape)} />
      {diff}
      {code !== "" && (
        <details class="made">
          <summary>code that set it</summary>
          <Pre label="Block" text={code} show={coloured} />
        </details>
      )}
    </section>
  );
}

async function difference(path: string): Promise<JSX.Element> {
  try {
    const { diff } = await json<{ readonly diff: { readonly text: string } }>(path);
    return <ShownDiff label="Difference" text={diff.text} />;
  } catch (error) {
    return <p class="diff reason">{error instanceof Error ? error.message : String(error)}</p>;
  }
}
