import type { ComponentChildren, JSX } from "preact";
import { Button } from "../parts/button.tsx";
import { coloured } from "../parts/coloured.tsx";
import { CopyButton } from "../parts/copy_button.tsx";
import { Pre } from "../parts/pre.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { plural } from "../text/plural.ts";
import { inApi, json } from "../store/api.ts";
import type { ApiMessage, Iteration } from "../store/api_types.ts";
import type { Turn } from "../store/turn.ts";
import { view } from "../store/viewer.ts";
import { StepFacts } from "./step_facts.tsx";

/** Goes to the step after or before the one that is shown. */
export type StepBy = (by: number) => void;

/** Shows everything about one iteration: what was sent, what came back, what it used and its context. */
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

function summary({ metadata, status, traces }: Iteration): string {
  const { usage } = traces.findLast(({ ok }) => ok) ?? {};
  const tokens = usage ? ` · ${usage.input.toLocaleString()} in + ${usage.output.toLocaleString()} out` : "";
  return `${metadata.outcome ?? status}${tokens}`;
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
