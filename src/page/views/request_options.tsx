import type { JSX } from "preact";
import { plural } from "../text/plural.ts";
import { choices, type LimitName } from "../store/choices.ts";
import { serverFacts } from "../store/server_facts.ts";
import { thread } from "../store/thread_shown.ts";

/** Limits of a request, each with its unit and the number of the API's units in it. */
const LIMITS: readonly (readonly [LimitName, string, number])[] = [
  ["maxIterations", "Steps", 1],
  ["maxCostUsd", "US dollars", 1],
  ["timeoutMs", "Minutes", 60_000],
];

/** Choices for the next requests: plan, model, workspace, limits. */
export function RequestOptions(): JSX.Element {
  const { plan } = choices;
  return (
    <p class="hint">
      <label title="Only reads, and answers with a plan">
        <input type="checkbox" id="plan" checked={plan.value} onChange={() => plan.value = !plan.value} /> Plan only
      </label>
      <Models />
      <Workspaces />
      <Limits />
      <span class="keys">Enter: send · Shift+Enter: new line · Esc: cancel</span>
    </p>
  );
}

function Models(): JSX.Element | null {
  const { provider = "", model = "" } = serverFacts.about.value ?? {};
  const usual = `${provider}/${model}`;
  const others = serverFacts.models.value.filter((name) => name !== usual);
  if (others.length === 0) return null;
  return (
    <Choice id="model" label="Model" chosen={choices.model.value} choose={(name) => choices.model.value = name}>
      {[["", model], ...others.map((name) => [name, name] as const)]}
    </Choice>
  );
}

/** Only for a new conversation, of a server with several. */
function Workspaces(): JSX.Element | null {
  const [usual = "", ...others] = serverFacts.about.value?.workspaces ?? [];
  if (others.length === 0 || thread.id.value !== null) return null;
  const { workspace } = choices;
  return (
    <Choice id="workspace" label="Workspace" chosen={workspace.value} choose={(path) => workspace.value = path}>
      {[["", usual], ...others.map((path) => [path, path] as const)]}
    </Choice>
  );
}

function Choice({ id, label, chosen, choose, children }: {
  readonly id: string;
  readonly label: string;
  readonly chosen: string;
  readonly choose: (value: string) => void;
  /** Values and their names. */
  readonly children: readonly (readonly [string, string])[];
}): JSX.Element {
  return (
    <select id={id} aria-label={label} title={label} onChange={({ currentTarget }) => choose(currentTarget.value)}>
      {children.map(([value, name]) => <option key={value} value={value} selected={value === chosen}>{name}</option>)}
    </select>
  );
}

function Limits(): JSX.Element {
  const set = Object.keys(choices.limits.value).length;
  return (
    <details id="limits">
      <summary>{set === 0 ? "Limits" : plural(set, "limit")}</summary>
      <span>{LIMITS.map(([name, unit, size]) => <Limit name={name} unit={unit} size={size} />)}</span>
    </details>
  );
}

function Limit({ name, unit, size }: {
  readonly name: LimitName;
  readonly unit: string;
  readonly size: number;
}): JSX.Element {
  const own = choices.limits.value[name];
  const usual = serverFacts.about.value?.limits[name] ?? null;
  const onChange = ({ currentTarget }: { readonly currentTarget: HTMLInputElement }): void => {
    const { [name]: _before, ...others } = choices.limits.value;
    const wanted = Number(currentTarget.value) * size;
    const given = name === "maxCostUsd" ? wanted : Math.round(wanted);
    choices.limits.value = given > 0 ? { ...others, [name]: given } : others;
  };
  return (
    <label>
      {`${unit} `}
      <input
        type="number"
        min={0}
        step="any"
        placeholder={usual === null ? "no limit" : String(usual / size)}
        value={own === undefined ? "" : own / size}
        onChange={onChange}
      />
    </label>
  );
}
