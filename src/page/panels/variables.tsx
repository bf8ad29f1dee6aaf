import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { asRecord } from "../../domain/kit/json.ts";
import { someOf } from "../../domain/kit/text.ts";
import { Button } from "../parts/controls.tsx";
import { coloured, plural, Pre, ShownDiff } from "../parts/texts.tsx";
import { type ApiVersion, type Graph, inApi, json, type Variable } from "../store/api.ts";
import { guarded } from "../store/state.ts";
import { view } from "./dialogs.tsx";

const ROWS = 200, MOST_SOURCES = 5;

export async function showVariables(conversation: string): Promise<void> {
  await view("Variables", async () => {
    const [{ items }, { edges }] = await Promise.all([
      json<{ readonly items: readonly Variable[] }>(inApi("conversations", conversation, "variables")),
      json<Graph>(inApi("conversations", conversation, "graph")),
    ]);
    const isSystem = ({ scope }: Variable): boolean => scope === "system";
    const sorted = [...items.filter((one) => !isSystem(one)), ...items.filter(isSystem)];
    return sorted.length === 0 ? <p>No variables yet</p> : <List {...{ conversation, edges }} items={sorted} />;
  });
}

export async function showVariable(conversation: string, name: string): Promise<void> {
  await view(name, async () => await versions(conversation, name));
}

function List({ conversation, items, edges }: {
  readonly conversation: string;
  readonly items: readonly Variable[];
  readonly edges: Graph["edges"];
}): JSX.Element {
  const [shown, show] = useState({ words: "", limit: ROWS });
  const wanted = shown.words.trim().toLowerCase();
  const found = items.filter(({ name }) => name.toLowerCase().includes(wanted));
  const left = found.length - shown.limit;
  const sources = useMemo(() => Map.groupBy(edges, ({ name }) => name), [edges]);
  return (
    <>
      <input
        type="search"
        placeholder="Filter"
        aria-label="Filter variables"
        onInput={({ currentTarget }) => show({ words: currentTarget.value, limit: ROWS })}
      />
      <div>
        {found.slice(0, shown.limit).map((one) => (
          <Row
            key={one.name}
            conversation={conversation}
            variable={one}
            sources={(sources.get(one.name) ?? []).map(({ reads }) => reads)}
          />
        ))}
        {left > 0 && (
          <Button class="more" run={() => show({ ...shown, limit: shown.limit * 4 })}>{`Show ${left} more`}</Button>
        )}
        {found.length === 0 && <p>No matching variables</p>}
      </div>
    </>
  );
}

function Row({ conversation, variable, sources }: {
  readonly conversation: string;
  readonly variable: Variable;
  readonly sources: readonly string[];
}): JSX.Element {
  const { name, kind, scope, summary, reason } = variable;
  const [history, show] = useState<JSX.Element | null>(null);
  const facts = [
    summary.shape || kind,
    plural(variable.versions, "version"),
    scope === "live" ? "" : scope,
    sources.length === 0 ? "" : `from ${someOf(sources, MOST_SOURCES)}`,
    reason,
  ];
  const load = async (): Promise<void> => {
    if (history !== null) return;
    try {
      show(await versions(conversation, name));
    } catch (error) {
      show(<p class="reason">{error instanceof Error ? error.message : String(error)}</p>);
    }
  };
  return (
    <details class="variable" onToggle={() => void load()}>
      <summary>
        <code>{name}</code>
        <span>{facts.filter(Boolean).join(" · ")}</span>
      </summary>
      <div class="versions">{history}</div>
    </details>
  );
}

async function versions(conversation: string, name: string): Promise<JSX.Element> {
  const path = inApi("conversations", conversation, "variables", name);
  const { items } = await json<{ readonly items: readonly ApiVersion[] }>(path);
  return <>{items.toReversed().map((one) => <Version path={path} version={one} />)}</>;
}

function Version(
  { path, version: given }: { readonly path: string; readonly version: ApiVersion },
): JSX.Element {
  const [{ version, value, chars, shape, reason, code, createdAt }, read] = useState(given);
  const [diff, show] = useState<JSX.Element | null>(null);
  const isCut = value !== null && (chars ?? 0) > value.length;
  const cut = isCut ? ` · first ${value.length.toLocaleString()} of ${chars?.toLocaleString()} characters` : "";
  const readAll = async (): Promise<void> => {
    const { items: [whole] } = await json<{ readonly items: readonly ApiVersion[] }>(`${path}?version=${version}`);
    if (whole) read(whole);
  };
  const compare = async (): Promise<void> => show(await difference(`${path}/diff?from=${version - 1}&to=${version}`));
  return (
    <section>
      <h3>
        {`v${version} · ${new Date(createdAt).toLocaleString()}${cut} `}
        {version > 1 && <Button class="quiet" run={compare}>{`compare with v${version - 1}`}</Button>}
      </h3>
      {reason === "" && value !== null ? <Value text={value} /> : <Pre label="Value" text={reason || shape} />}
      {value === given.value && isCut && (
        <Button class="more" run={() => guarded(readAll)}>
          Read the whole value
        </Button>
      )}
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

/** JSON would hide the line breaks of texts, such as the output of a command. */
function Value({ text }: { readonly text: string }): JSX.Element {
  const facts = useMemo(() => objectIn(text), [text]);
  const isLong = (value: unknown): value is string => typeof value === "string" && value.includes("\n");
  if (!Object.values(facts).some(isLong)) return <Pre label="Value" text={text} />;
  return (
    <dl>
      {Object.entries(facts).map(([key, value]) => [
        <dt>{key}</dt>,
        <dd>{isLong(value) ? <Pre label={key} text={value} /> : JSON.stringify(value)}</dd>,
      ])}
    </dl>
  );
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = text.startsWith("{") ? JSON.parse(text) : {};
    return asRecord(value);
  } catch {
    return {}; // A cut text is no JSON.
  }
}

async function difference(path: string): Promise<JSX.Element> {
  try {
    const { diff } = await json<{ readonly diff: { readonly text: string } }>(path);
    return <ShownDiff label="Difference" text={diff.text} />;
  } catch (error) {
    return <p class="diff reason">{error instanceof Error ? error.message : String(error)}</p>;
  }
}
