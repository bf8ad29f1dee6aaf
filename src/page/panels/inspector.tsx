import type { ComponentChildren, JSX } from "preact";
import { durationText } from "../../domain/kit/text.ts";
import { aboutText, type ModelTrace, spentOn } from "../../domain/query/model_call.ts";
import type { BlockCall } from "../../domain/query/query_schemas.ts";
import { Button, CopyButton, Tabs } from "../parts/controls.tsx";
import { coloured, plural, Pre } from "../parts/texts.tsx";
import { type ApiMessage, inApi, type Iteration, json, type StepMetadata } from "../store/api.ts";
import type { Turn } from "../store/turn.ts";
import { view } from "./dialogs.tsx";

type StepBy = (by: number) => void;

export async function inspect(turn: Turn, number: number): Promise<void> {
  const query = inApi("conversations", turn.conversation, "queries", turn.queryId ?? "");
  const stepBy: StepBy = (by) => {
    const next = number + by;
    if (next >= 1 && next <= turn.count.value) void inspect(turn, next);
  };
  await view(`Step ${number} of ${turn.count.value}`, async () => {
    const [{ items: [iteration] }, { messages }] = await Promise.all([
      json<{ readonly items: readonly Iteration[] }>(`${query}/iterations?after=${number - 1}&limit=1`),
      json<{ readonly messages: readonly ApiMessage[] }>(`${query}/iterations/${number}/messages`),
    ]);
    if (iteration === undefined) return <p>This step is not stored</p>;
    return <Inspected key={number} iteration={iteration} messages={messages} stepBy={stepBy} />;
  });
}

function Inspected({ iteration, messages, stepBy }: {
  readonly iteration: Iteration;
  readonly messages: readonly ApiMessage[];
  readonly stepBy: StepBy;
}): JSX.Element {
  return (
    <>
      <div class="bar" data-steps="">
        <Button aria-label="Previous step" class="go" run={() => stepBy(-1)}>←</Button>
        <Button aria-label="Next step" class="go" run={() => stepBy(1)}>→</Button>
        <span>{summary(iteration)}</span>
      </div>
      <Tabs
        label="Step details"
        parts={{
          Sent: () => messages.map((one) => <Sent message={one} />),
          Received: () => reply(iteration),
          Details: () => <StepFacts iteration={iteration} />,
        }}
      />
    </>
  );
}

const OUTCOMES: Readonly<Record<string, string>> = {
  executed: "code ran",
  final: "answered",
  refused: "answer refused",
  empty: "empty reply",
};

function summary({ metadata, status, traces }: Iteration): string {
  const { usage } = spentOn(traces);
  const isCounted = usage.input + usage.output > 0;
  const tokens = isCounted
    ? ` · ${aboutText(usage)}${usage.input.toLocaleString()} in + ${usage.output.toLocaleString()} out`
    : "";
  return `${OUTCOMES[metadata.outcome ?? ""] ?? metadata.outcome ?? status}${tokens}`;
}

function Sent({ message: { role, text } }: { readonly message: ApiMessage }): JSX.Element {
  return (
    <section>
      <h3>
        {`${role} · ${plural(text.length, "character")} `}
        <CopyButton text={() => text} class="quiet" />
      </h3>
      <Pre class="tall" label={`Message of the ${role}`} text={text} />
    </section>
  );
}

function reply({ response, thinking, blocks }: Iteration): ComponentChildren {
  return (
    <>
      <section>
        <h3>Raw reply</h3>
        <Pre class="tall" label="Reply" text={response || "(none)"} />
      </section>
      {thinking !== "" && (
        <section>
          <h3>Thinking</h3>
          <Pre class="tall" label="Thinking" text={thinking} />
        </section>
      )}
      {blocks.map(({ code, reads }, at) => (
        <section>
          <h3>{`Block ${at + 1}${reads.length > 0 ? ` · reads ${reads.join(", ")}` : ""}`}</h3>
          <Pre class="tall" label="Code" text={code} show={coloured} />
        </section>
      ))}
    </>
  );
}

function StepFacts({ iteration }: { readonly iteration: Iteration }): JSX.Element {
  const { traces, blocks, metadata, createdAt, error } = iteration;
  const { extensions = [], notes = [] } = metadata;
  const ran = blocks.map(({ result: { ms, outcome, calls } }, at) =>
    `${at + 1}: ${outcome} · ${durationText(ms)}${called(calls)}`
  );
  return (
    <>
      <FactList title="Tokens and cost" rows={{ ...tokens(traces), Cost: cost(iteration) }} />
      <FactList
        title="Time"
        rows={{
          Started: new Date(createdAt).toLocaleString(),
          Model: traces.map(modelCall).join("\n") || "not called",
          Blocks: ran.join("\n") || "none",
          "Request size in bytes": metadata.requestBytes?.toLocaleString() ?? "unknown",
        }}
      />
      <FactList title="Sandbox walls" rows={wallFacts(metadata)} />
      <FactList title="Grants" rows={grantFacts(metadata)} />
      <FactList
        title="Context"
        rows={{
          Extensions: extensions.map(({ namespace, version }) => `${namespace} ${version}`).join(", ") || "none",
          Budget: metadata.budget === undefined ? "unknown" : valueText(metadata.budget),
          Repairs: traces.flatMap(({ repairs }) => repairs).join("; ") || "none",
          ...(notes.length > 0 ? { Notes: notes.join("\n") } : {}),
          ...(error ? { Reason: error } : {}),
        }}
      />
    </>
  );
}

function modelCall({ provider, model, ok, ms, status, error }: ModelTrace): string {
  return `${provider} ${model} · ${durationText(ms)} · ${ok ? "ok" : error ?? status ?? "failed"}`;
}

function called(calls: readonly BlockCall[]): string {
  if (calls.length === 0) return "";
  const names = calls.slice(0, 5).map(({ name, ms, ok, outcome }) => {
    return `${ok ? "" : "✗ "}${name} ${durationText(ms)}${outcome ? ` (${outcome})` : ""}`;
  }).join(", ");
  return ` · ${plural(calls.length, "call")}: ${names}${calls.length > 5 ? " …" : ""}`;
}

function tokens(traces: readonly ModelTrace[]): Readonly<Record<string, string>> {
  const { usage } = spentOn(traces);
  if (usage.input + usage.output === 0) return { Tokens: "not counted" };
  return {
    Input: `${aboutText(usage)}${usage.input.toLocaleString()}`,
    "Input, cached": usage.cached.toLocaleString(),
    "Input, written to cache": (usage.cacheWrite ?? 0).toLocaleString(),
    Output: `${aboutText(usage)}${usage.output.toLocaleString()}`,
    "Output, reasoning": usage.reasoning.toLocaleString(),
  };
}

function cost({ traces, metadata: { costUsd = null } }: Iteration): string {
  return costUsd === null ? "price unknown" : `${aboutText(spentOn(traces).usage)}$${costUsd.toFixed(6)}`;
}

function active(is: boolean): string {
  return is ? "✓ active" : "✗ inactive";
}

function wallFacts({ walls }: StepMetadata): Readonly<Record<string, string>> {
  if (!walls) return { Sandbox: "no code ran" };
  const { landlock, seccomp } = walls.kernel;
  return {
    Realm: active(walls.realm),
    Permissions: active(walls.permissions),
    Process: active(walls.process),
    "Kernel (files)": landlock > 0 ? `✓ active (Landlock ${landlock})` : active(false),
    "Kernel (system calls)": active(seccomp),
    ...(walls.failed.length > 0 ? { Problems: walls.failed.join("\n") } : {}),
  };
}

function grantFacts({ grants }: StepMetadata): Readonly<Record<string, string>> {
  const given = Object.entries(grants ?? {}).filter(([, list]) => list.length > 0);
  if (given.length === 0) return { Granted: "nothing" };
  return Object.fromEntries(given.map(([name, list]) => [name, list.join("\n")]));
}

function valueText(value: unknown): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function FactList(
  { title, rows }: { readonly title: string; readonly rows: Readonly<Record<string, string>> },
): JSX.Element {
  return (
    <section>
      <h3>{title}</h3>
      <dl>{Object.entries(rows).map(([name, text]) => [<dt>{name}</dt>, <dd>{text}</dd>])}</dl>
    </section>
  );
}
