import { signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { runningText } from "../../domain/kit/text.ts";
import { approvalChoices, type ApprovalQuestion } from "../../domain/query/approval.ts";
import { requestOfImages } from "../../domain/query/stored_query.ts";
import { typedCommand } from "../../domain/query/typed_request.ts";
import { Button, Menu } from "../parts/controls.tsx";
import { plural } from "../parts/texts.tsx";
import {
  choices,
  elements,
  guarded,
  type LimitName,
  optionsShown,
  saidStatus,
  say,
  serverFacts,
} from "../store/state.ts";
import { thread } from "../store/thread.ts";
import { runPageCommand } from "./page_commands.ts";
import {
  endSuggestions,
  suggest,
  suggestionAttributes,
  suggestionKey,
  Suggestions,
  typedRequest,
} from "./suggestions.tsx";

export function Composer({ children }: { readonly children: ComponentChildren }): JSX.Element {
  useLayoutEffect(() => {
    addEventListener("resize", grow);
    thread.turned = turnDraft;
    return () => removeEventListener("resize", grow);
  }, []);
  const running = thread.running.value;
  const isServed = thread.isServed.value;
  const question = waitingQuestion();
  const { text, bad } = saidStatus.value;
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    void send();
  };
  return (
    <form
      id="composer"
      onSubmit={onSubmit}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => take(event, event.dataTransfer)}
    >
      {children}
      <div class="told">
        {!bad && <Activity />}
        <p id="status" role="status" aria-live="polite" class={bad ? "bad" : running ? "unseen" : ""}>{text}</p>
        {isServed && <OptionsButton />}
      </div>
      <AttachedImages />
      <div class={question ? "row asks" : "row"} hidden={!isServed}>
        <Suggestions />
        <textarea
          id="request"
          rows={1}
          placeholder={placeholder()}
          aria-label="Request"
          ref={elements.request}
          {...suggestionAttributes()}
          onInput={() => {
            grow();
            void suggest();
          }}
          onBlur={endSuggestions}
          onKeyDown={onKey}
          onPaste={(event) => take(event, event.clipboardData)}
        />
        {running || <AttachButton />}
        <Button id="cancel" hidden={!running} run={() => guarded(() => thread.cancel())}>Cancel</Button>
        <button id="send" type="submit" class={question ? "" : "primary"}>
          {question ? "Refuse and send" : "Send"}
        </button>
      </div>
      {isServed ? <RequestOptions /> : <p>{NOT_SERVED}</p>}
    </form>
  );
}

const NOT_SERVED = "Only readable here. To continue, run vis serve in this folder, or add it to server.workspaces.";

const HAS_KEYS = matchMedia("(hover: hover)").matches;

function waitingQuestion(): ApprovalQuestion | null {
  return thread.turns.value.at(-1)?.question.value ?? null;
}

function placeholder(): string {
  const question = waitingQuestion();
  if (question && HAS_KEYS) return `Answer with ${lettersOf(question)}, or refuse with a text…`;
  if (question) return "Refuse with a text…";
  if (thread.running.value) return "Add instructions…";
  return HAS_KEYS ? "Describe a task · @ names a file · / lists commands" : "Describe a task";
}

function lettersOf(question: ApprovalQuestion): string {
  const keys = approvalChoices(question).map(({ key }) => key);
  return `${keys.slice(0, -1).join(", ")} or ${keys.at(-1)}`;
}

function Activity(): JSX.Element | null {
  const turn = thread.turns.value.at(-1);
  if (!turn?.running.value) return null;
  const { count, most, tokens, doing, elapsed, question, isElsewhere } = turn;
  const parts = [
    question.value ? "Waiting for your answer" : "",
    count.value > 0
      ? `Step ${count.value}${most.value > 0 ? ` of ${most.value}` : ""}`
      : question.value
      ? ""
      : "Working",
    elapsed.value < 1000 ? "" : runningText(elapsed.value),
    isElsewhere && "runs elsewhere",
    question.value ? "" : doing.value,
    tokens.value === 0 ? "" : plural(tokens.value, "token"),
  ];
  return (
    <p id="activity" class={question.value ? "waits" : ""}>
      {parts.filter(Boolean).join(" · ")}
    </p>
  );
}

interface RequestDraft {
  readonly text: string;
  readonly images: readonly AttachedImage[];
}

const drafts = new Map<string | null, RequestDraft>();

const opened = { turns: 0 };

function turnDraft(from: string | null, to: string | null): void {
  opened.turns++;
  const area = elements.request.current;
  if (area === null) return;
  const left = { text: area.value, images: attached.value };
  if (left.text === "" && left.images.length === 0) drafts.delete(from);
  else drafts.set(from, left);
  showDraft(drafts.get(to) ?? { text: "", images: [] });
  drafts.delete(to);
}

function showDraft({ text, images }: RequestDraft): void {
  const area = elements.request.current;
  if (area !== null) area.value = text;
  attached.value = images;
  endSuggestions();
  grow();
}

export function putRequest(text: string): void {
  const area = elements.request.current;
  if (area === null) return;
  area.value = text;
  grow();
  area.focus();
}

function grow(): void {
  const area = elements.request.current;
  if (area === null) return;
  area.style.height = "auto";
  if (area.scrollHeight > 0) area.style.height = `${area.scrollHeight + area.offsetHeight - area.clientHeight}px`;
}

function take(event: Event, from: DataTransfer | null): void {
  const files = [...from?.files ?? []];
  if (files.length === 0) return;
  event.preventDefault();
  void guarded(async () => {
    if (await attach(files)) return;
    const names = files.map(({ name }) => name).join(", ").slice(0, 200);
    say(`Cannot attach ${names}: Vis takes only PNG, JPEG, GIF and WebP images; convert the files`, { bad: true });
  });
}

function onKey(event: KeyboardEvent): void {
  if (!event.isComposing && suggestionKey(event)) {
    event.preventDefault();
    event.stopPropagation();
    return;
  }
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  void send();
}

async function send(): Promise<void> {
  const area = elements.request.current;
  const typed = area?.value ?? "";
  const images = attached.value;
  const sent = { from: thread.id.value, turns: opened.turns };
  const refused = waitingQuestion();
  if (area === null || requestOfImages(typed, images).trim() === "") return;
  if (images.length === 0 && isCommand(area)) return;
  if (images.length > 0 && thread.running.value) {
    return say("Cannot send the images: the running request takes only text; wait until it ends, or cancel it", {
      bad: true,
    });
  }
  area.value = "";
  attached.value = [];
  grow();
  if (saidStatus.value.bad) say("");
  const state = { taken: false };
  await guarded(async () => {
    try {
      const { text, only } = await typedRequest(typed);
      await thread.send(requestOfImages(text, images), {
        only,
        refused,
        images: images.map(({ url }) => url),
        taken: () => state.taken = true,
      });
    } catch (error) {
      if (!state.taken) giveBack({ text: typed, images }, sent);
      throw error;
    }
  });
}

function isCommand(area: HTMLTextAreaElement): boolean {
  const command = typedCommand(area.value);
  const ran = command && runPageCommand(command);
  if (ran === null) return false;
  if (ran.isDone) area.value = "";
  grow();
  say(ran.said, { bad: !ran.isDone });
  return true;
}

function giveBack({ text, images }: RequestDraft, { from, turns }: {
  readonly from: string | null;
  readonly turns: number;
}): void {
  const isOpen = turns === opened.turns;
  const now = isOpen
    ? { text: elements.request.current?.value ?? "", images: attached.value }
    : drafts.get(from) ?? { text: "", images: [] };
  const draft = { text: now.text === "" ? text : now.text, images: [...images, ...now.images] };
  if (isOpen) showDraft(draft);
  else drafts.set(from, draft);
}

function AttachedImages(): JSX.Element | null {
  if (attached.value.length === 0) return null;
  return (
    <ul id="attached" aria-label="Attached images">
      {attached.value.map((image) => (
        <li key={image.url}>
          <Button run={() => detach(image)} aria-label={`Remove ${image.name}`}>{`${image.name} ×`}</Button>
        </li>
      ))}
    </ul>
  );
}

function AttachButton(): JSX.Element {
  const files = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        type="file"
        hidden
        multiple
        accept={IMAGE_TYPES}
        ref={files}
        onChange={({ currentTarget }) => {
          const chosen = [...currentTarget.files ?? []];
          currentTarget.value = ""; // Without this line, the user could not choose the same file again.
          void guarded(() => attach(chosen));
        }}
      />
      <Button id="attach" title="Attach images" aria-label="Attach images" run={() => files.current?.click()}>+</Button>
    </>
  );
}

const MOST = 20;
const MAX_BYTES = 5_000_000;
const IMAGE_TYPES = "image/png,image/jpeg,image/gif,image/webp";

interface AttachedImage {
  readonly name: string;
  readonly url: string;
}

const attached = signal<readonly AttachedImage[]>([]);

async function attach(files: readonly File[]): Promise<boolean> {
  const images = files.filter(({ type }) => IMAGE_TYPES.split(",").includes(type));
  for (const image of images) {
    if (image.size > MAX_BYTES) {
      const why = `it has ${image.size} bytes, and the limit is ${MAX_BYTES} bytes; make it smaller`;
      say(`Cannot attach ${image.name}: ${why}`, { bad: true });
    } else add({ name: image.name, url: await dataUrl(image) });
  }
  return images.length > 0;
}

/** The user may have attached other images while the page read this image. */
function add(image: AttachedImage): void {
  if (attached.value.length >= MOST) {
    say(`Cannot attach ${image.name}: a request can have at most ${MOST} images; remove one first`, { bad: true });
  } else attached.value = [...attached.value, image];
}

function detach(image: AttachedImage): void {
  attached.value = attached.value.filter((one) => one !== image);
}

async function dataUrl(file: File): Promise<string> {
  const reader = new FileReader();
  const read = new Promise((resolve, reject) => {
    reader.addEventListener("load", resolve);
    reader.addEventListener(
      "error",
      () => reject(new Error(`Cannot read ${file.name}: the browser could not open the file; attach it again`)),
    );
  });
  reader.readAsDataURL(file);
  await read;
  return String(reader.result);
}

const LIMITS: readonly (readonly [LimitName, string, number])[] = [
  ["maxIterations", "Steps", 1],
  ["maxCostUsd", "US dollars", 1],
  ["timeoutMs", "Minutes", 60_000],
];

function OptionsButton(): JSX.Element {
  const { plan, model, reasoning, limits } = choices;
  const set = Object.keys(limits.value).length;
  const level = LEVELS.find(([value]) => value !== "" && value === reasoning.value)?.[1] ?? "";
  const parts = [plan.value ? "Plan only" : "", model.value, level, set === 0 ? "" : plural(set, "limit")];
  return (
    <Button
      id="options"
      class="quiet"
      aria-expanded={optionsShown.value}
      aria-controls="request-options"
      run={() => optionsShown.value = !optionsShown.value}
    >
      {parts.filter(Boolean).join(" · ") || "Options"}
    </Button>
  );
}

function RequestOptions(): JSX.Element {
  const { plan } = choices;
  return (
    <div id="request-options" class={optionsShown.value ? "hint shown" : "hint"}>
      <label title="Only reads, and answers with a plan">
        <input type="checkbox" id="plan" checked={plan.value} onChange={() => plan.value = !plan.value} /> Plan only
      </label>
      <Models />
      <Reasoning />
      <Workspaces />
      <Limits />
      <span class="keys">
        {waitingQuestion()
          ? "Enter: refuse and send · Esc: cancel"
          : thread.running.value
          ? "Enter: add to this request · Esc: cancel"
          : "Enter: send · Shift+Enter: new line"}
      </span>
    </div>
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

const LEVELS = [["", "Thinking"], ["quick", "Quick"], ["balanced", "Balanced"], ["deep", "Deep"]] as const;

function Reasoning(): JSX.Element {
  const { reasoning } = choices;
  return (
    <Choice id="reasoning" label="Thinking" chosen={reasoning.value} choose={(level) => reasoning.value = level}>
      {LEVELS}
    </Choice>
  );
}

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
    <Menu id="limits" summary={<summary>{set === 0 ? "Limits" : plural(set, "limit")}</summary>}>
      <p>
        If Steps is empty, Vis extends the budget while a request makes progress. If another field is empty, the
        server's limit applies.
      </p>
      {LIMITS.map(([name, unit, size]) => <Limit name={name} unit={unit} size={size} />)}
    </Menu>
  );
}

function Limit({ name, unit, size }: {
  readonly name: LimitName;
  readonly unit: string;
  readonly size: number;
}): JSX.Element {
  const own = choices.limits.value[name];
  const limit = serverFacts.about.value?.limits[name] ?? null;
  // The server extends its number of steps, so this number is no limit.
  const usual = name === "maxIterations" ? "" : limit === null ? "no limit" : String(limit / size);
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
        placeholder={usual}
        value={own === undefined ? "" : own / size}
        onChange={onChange}
      />
    </label>
  );
}
