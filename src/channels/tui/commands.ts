import { counted, dollarText } from "../../domain/kit/text.ts";
import { messageOf } from "../../domain/errors.ts";
import { FAMILIAR_WORDS } from "../../domain/familiar_words.ts";
import { abortable } from "../../domain/kit/concurrency.ts";
import { nearestName } from "../../domain/kit/names.ts";
import { MORE_TEXT } from "../../domain/query/outcomes.ts";
import { requestOfCommand, typedCommand } from "../../domain/query/typed_request.ts";
import type { ChatController } from "./chat.ts";
import type { Outgoing } from "./input/outgoing.ts";
import type { PromptFile } from "./prompt_files.ts";
import type { ExtensionCommandFacts } from "../../domain/admin_reports.ts";
import { ConversationList } from "./panels/conversation_list.ts";
import { Inspector } from "./panels/inspector.ts";
import { JobsPanel } from "./panels/jobs_panel.ts";
import { ModelPicker } from "./panels/model_picker.ts";
import { Palette, type PaletteCommand } from "./panels/palette.ts";
import type { PanelActions, PanelParts } from "./panels/panel.ts";
import { diffPart, type TextPart } from "./panels/reader.ts";
import { RewindPicker } from "./panels/rewind_panel.ts";
import { SettingsPanel } from "./panels/settings_panel.ts";
import { CommandPanel, FindPanel, SideQuestion, TextPanel } from "./panels/text_panel.ts";
import { ForkPicker } from "./panels/turns_panel.ts";
import { VariableBrowser } from "./panels/variable_browser.ts";
import { type KeyAction, keyLabel, readKeys, shownKey } from "./keyboard.ts";
import { isCommand } from "./user_commands.ts";
import { type Prefs, type PrefsKeeper, THEMES } from "./prefs.ts";
import { flat } from "./text/one_line.ts";

interface CommandParts {
  readonly panels: PanelParts;
  readonly prefs: PrefsKeeper;
  readonly chat: Pick<ChatController, "lastAnswer" | "changes" | "cancel" | "send" | "budget" | "rename">;
  readonly uncommitted: () => Promise<string | null>;
  readonly retry: () => Promise<void>;
  readonly more: () => Promise<void>;
  readonly whole: () => void;
  readonly todo: () => void;
  readonly inputs: () => void;
  readonly added: readonly ExtensionCommandFacts[];
  readonly prompts: readonly PromptFile[];
}

export function commandsOf(parts: CommandParts): readonly PaletteCommand[] {
  const { panels, prompts } = parts;
  const ofUser = (name: string): boolean => name === "review" && prompts.some((prompt) => prompt.name === name);
  const all = [...workCommands(parts).filter(({ name }) => !ofUser(name)), ...displayCommands(parts)];
  all.push(
    item("help", "show keys and commands", () => {
      const texts = helpTexts(every, keys);
      panels.act.open(new TextPanel(panels, { title: "Keys and commands", texts }));
    }, { key: "help" }),
    item("quit", "quit", () => panels.act.quit(), { key: "quit", aliases: ["exit"] }),
  );
  const palette = item("palette", "search all commands", () => panels.act.open(new Palette(panels, named)), {
    key: "palette",
  });
  const taken = new Set([...all, palette].flatMap(({ name, aliases = [] }) => [name, ...aliases]));
  const extra = parts.added.filter(({ name }) => !taken.has(name)).map(({ name, doc }) =>
    item(name, flat(doc, 80), (words) => added(name, words, parts))
  );
  const own = prompts.filter(({ name }) => !taken.has(name)).map(({ name, detail, text }) =>
    item(
      name,
      detail,
      (words, typed) => request({ name, words, prompt: text }, { chat: parts.chat, typed }),
      { ofFile: true, asks: true },
    )
  );
  const { keys } = readKeys(parts.prefs.get().keys);
  const withKeys = ({ key, ...one }: ListedCommand) => ({ ...one, keys: key === null ? "" : shownKey(key, keys) });
  const named = [...all, ...own, ...extra.filter(({ name }) => own.every((one) => one.name !== name))].map(withKeys);
  const every = [...named, withKeys(palette)];
  return every;
}

interface ListedCommand extends PaletteCommand {
  readonly key: KeyAction | null;
}

function item(
  name: string,
  detail: string,
  run: PaletteCommand["run"],
  { key = null, aliases = [], needsWords = false, ofFile = false, asks = false }: Partial<
    Pick<ListedCommand, "key" | "aliases" | "needsWords" | "ofFile" | "asks">
  > = {},
): ListedCommand {
  return { name, detail, key, keys: "", aliases, needsWords, ofFile, asks, run };
}

function plain(
  act: Pick<PanelActions, "tell">,
  ...[name, detail, run, more]: readonly [string, string, () => void | Promise<void>, Parameters<typeof item>[3]?]
): ListedCommand {
  return item(name, detail, (words) => words === "" ? run() : act.tell(`/${name} takes no words: ${detail}`), more);
}

function workCommands(parts: CommandParts): ListedCommand[] {
  const { panels, chat, retry, more } = parts;
  const { act } = panels;
  const resume = { aliases: ["resume"] };
  return [
    plain(act, "new", "start a new conversation", () => act.show(null)),
    plain(
      act,
      "conversations",
      "open, search, rename or delete conversations",
      () => act.open(new ConversationList(panels)),
      resume,
    ),
    item(
      "plan",
      "make a plan before the work: /plan split this module",
      (words, typed) => {
        if (words === "") act.tell("Write what to plan: /plan split this module");
        else request({ name: "plan", words, prompt: null }, { chat, typed });
      },
      { needsWords: true, asks: true },
    ),
    item(
      "review",
      "review changes: /review, /review main, /review HEAD~1 security only",
      (words, typed) => request({ name: "review", words, prompt: null }, { chat, typed }),
      { asks: true },
    ),
    plain(act, "retry", "run the last request again", retry, { key: "retry" }),
    plain(act, "more", `give the last request ${MORE_TEXT}`, more, { key: "more" }),
    item("find", "search this conversation: /find timeout", (words) => find(words, parts)),
    plain(
      act,
      "rewind",
      "return the conversation, the files, or both to an earlier point",
      () => act.open(new RewindPicker(panels)),
    ),
    plain(act, "fork", "continue from an earlier step", () => act.open(new ForkPicker(panels))),
    item(
      "diff",
      "show the newest file changes of a request, or else the uncommitted changes; /diff all shows the uncommitted changes",
      (words) => showChanges(words, parts),
    ),
    item("undo", "undo the newest file changes of a request", (words) => undo(words, { act, redo: false })),
    item("redo", "reapply the file changes that were undone last", (words) => undo(words, { act, redo: true })),
    item("rename", "give the conversation another title: /rename the parser", (title) => rename(title, parts), {
      needsWords: true,
    }),
    item("think", `set the thinking level of the model: /think ${LEVELS.join(", ")}`, (level) => think(level, parts)),
    item(
      "budget",
      "limit a request: /budget $0.50, /budget off, or /budget 20 (steps before the model must ask for more)",
      (words) => setBudget(words, parts),
    ),
    item("model", "choose another model or provider", (name) => model(name, panels)),
    item(
      "btw",
      "ask something that the conversation does not keep: /btw what is a monad?",
      (question, typed) => {
        if (question === "") act.tell("Write the question: /btw what is a monad?");
        else act.open(new SideQuestion(panels, { variables: {}, images: {}, ...typed, text: question }));
      },
      { needsWords: true, asks: true },
    ),
    ...parts.added.some(({ name }) => name === MCP_CHECK)
      ? [item("mcp", "show the MCP servers and their states", (words) => added(MCP_CHECK, words, parts))]
      : [],
    plain(act, "jobs", "show or stop commands in the background", () => act.open(new JobsPanel(panels))),
    plain(act, "vars", "show variables and their versions", () => act.open(new VariableBrowser(panels))),
    plain(act, "inspect", "show the exact messages that Vis sent to the model", () => act.open(new Inspector(panels)), {
      key: "inspect",
    }),
    plain(act, "copy", "copy the last answer", () => act.copy(chat.lastAnswer), { key: "copy" }),
    item("export", "write the conversation to a file: /export notes.md, .html or .json", (name) => act.export(name)),
    plain(act, "cancel", "cancel the running request", () => void chat.cancel(), { key: "escape" }),
  ];
}

function undo(
  words: string,
  { act, redo }: { readonly act: PanelActions; readonly redo: boolean },
): Promise<void> | void {
  if (words === "" || words === "rest" || words === "force") {
    return act.undo({ redo, rest: words === "rest", force: words === "force" });
  }
  const name = redo ? "redo" : "undo";
  act.tell(`Write /${name}, /${name} rest without the files that prevent it, or /${name} force for all files`);
}

function find(words: string, { panels }: CommandParts): void {
  const branch = panels.branch();
  if (branch === null) panels.act.tell("This conversation has no request yet");
  else panels.act.open(new FindPanel(panels, { branch, words }));
}

const MCP_CHECK = "mcp-check";

function added(name: string, words: string, { panels }: CommandParts): void {
  panels.act.open(new CommandPanel(panels, [name, ...shellWords(words)]));
}

/** A quote without its second one is an ordinary character. */
function shellWords(line: string): readonly string[] {
  const quoted = /"([^"]*)"|'([^']*)'/g;
  return (line.match(/(?:"[^"]*"|'[^']*'|\S)+/g) ?? [])
    .map((word) => word.replace(quoted, (_, double?: string, single?: string) => double ?? single ?? ""));
}

function displayCommands(parts: CommandParts): ListedCommand[] {
  const { panels, prefs, whole } = parts;
  const { act } = panels;
  const thinking = (): Promise<void> => turn("thinking", parts);
  return [
    plain(act, "expand", "show full or shortened code and output", whole, { key: "expand", aliases: ["whole"] }),
    plain(act, "inputs", "find an earlier input of this folder", parts.inputs, { key: "inputs" }),
    plain(act, "todo", "unfold or fold the list of tasks that the model keeps", parts.todo, { key: "todo" }),
    plain(act, "thinking", "show or hide thinking", thinking, { key: "thinking" }),
    item(
      "steps",
      "show or hide steps; /steps 20 does the same as /budget 20",
      (words) => steps(words, parts),
      {
        aliases: ["iterations"],
      },
    ),
    item("theme", `choose colours: ${THEMES.join(", ")}`, (name) => theme(name, parts)),
    plain(act, "settings", "change the display settings", () => act.open(new SettingsPanel(panels, prefs))),
  ];
}

async function turn(key: "thinking" | "iterations", { prefs, panels: { act } }: CommandParts): Promise<void> {
  const isShown = !prefs.get()[key];
  const what = key === "thinking" ? "Thinking" : "Steps";
  await prefs.set({ [key]: isShown }).then(
    () => act.tell(`${what}: ${isShown ? "shown" : "hidden"} from now on`),
    (error: unknown) => act.tell(messageOf(error)),
  );
}

async function steps(words: string, parts: CommandParts): Promise<void> {
  const { chat, panels: { act } } = parts;
  if (words === "") return await turn("iterations", parts);
  if (!STEPS.test(words)) return act.tell("Write a number from 1 to 9999: /steps 20. /steps shows or hides steps");
  chat.budget = { ...chat.budget, steps: Number(words) };
  act.tell(`From now on, a request of this session may take ${budgetText(chat.budget)}`);
}

const STEPS = /^[1-9]\d{0,3}$/;

function setBudget(words: string, { chat, panels: { act } }: CommandParts): void {
  const { budget } = chat;
  const [, dollars] = /^\$\s?(\d{1,6}(?:\.\d{1,4})?)$/.exec(words) ?? [];
  const steps = words.replace(/ steps?$/, "");
  if (words === "off") chat.budget = { ...budget, steps: null, costUsd: null };
  else if (dollars !== undefined && Number(dollars) > 0) chat.budget = { ...budget, costUsd: Number(dollars) };
  else if (STEPS.test(steps)) chat.budget = { ...budget, steps: Number(steps) };
  else if (words !== "") {
    return act.tell("Write a number of steps or an amount: /budget 20, /budget $0.50, or /budget off");
  }
  act.tell(`From now on, a request of this session may take ${budgetText(chat.budget)}`);
}

function budgetText({ steps, costUsd }: CommandParts["chat"]["budget"]): string {
  const parts = [
    ...(steps === null ? [] : [`${counted(steps, "step")} before the model must ask for more`]),
    ...(costUsd === null ? [] : [`at most ${dollarText(costUsd)}`]),
  ];
  return parts.length === 0 ? "as much as the settings say" : parts.join(" and ");
}

const LEVELS = ["quick", "balanced", "deep", "auto"] as const;

function think(words: string, { chat, panels: { act } }: CommandParts): void {
  const level = words === "" ? chat.budget.reasoning ?? "auto" : LEVELS.find((one) => one === words);
  if (level === undefined) return act.tell(`Unknown level ${words}. Choose ${LEVELS.join(", ")}`);
  chat.budget = { ...chat.budget, reasoning: level === "auto" ? null : level };
  act.tell(`Thinking: ${level}${words === "" ? ` (choose ${LEVELS.join(", ")})` : " from the next request on"}`);
}

async function rename(title: string, { chat, panels: { act } }: CommandParts): Promise<void> {
  if (title === "") return act.tell("Write the title: /rename the parser");
  await chat.rename(title).then(
    () => act.tell(`Renamed to ${flat(title, 200)}`),
    (error: unknown) => act.tell(messageOf(error)),
  );
}

const NO_CHANGES = "No request of this conversation has file changes to show";

async function showChanges(words: string, { chat, panels, uncommitted }: CommandParts): Promise<void> {
  const { act } = panels;
  if (words !== "" && words !== "all") return act.tell("Write /diff, or /diff all for the uncommitted changes");
  try {
    const { title, diffs, undone } = words === "all" ? { title: "", diffs: [] } : await chat.changes();
    if (undone !== undefined) return act.tell(`${undone}; /diff all shows the uncommitted changes`);
    if (diffs.length > 0) return act.open(new TextPanel(panels, { title, texts: diffs.map(diffPart) }));
    const text = words === "" ? await uncommitted().catch(() => null) : await uncommitted();
    if (text === null && words === "") return act.tell(NO_CHANGES);
    if (text === null) {
      return act.tell("Cannot show the uncommitted changes: git failed or took too long; try !git diff");
    }
    if (text === "") {
      return act.tell(words === "" ? `${NO_CHANGES}, and git shows no uncommitted change` : "No uncommitted change");
    }
    const [list = "", ...files] = text.split(/^(?=diff --git )/m);
    const texts = [{ head: "", text: list.trimEnd() }, ...files.map(diffPart)];
    act.open(new TextPanel(panels, { title: "Uncommitted changes: staged, unstaged and untracked", texts }));
  } catch (error) {
    act.tell(messageOf(error));
  }
}

function request(
  { name, words, prompt }: { readonly name: string; readonly words: string; readonly prompt: string | null },
  { chat, typed }: Pick<CommandParts, "chat"> & { readonly typed: Outgoing | undefined },
): void {
  const made = requestOfCommand({ name, rest: ` ${words}` }, prompt);
  const line = typed?.text ?? `/${name} ${words}`.trim();
  if (made !== null) chat.send({ variables: {}, images: {}, ...typed, ...made, typed: line });
}

async function theme(name: string, { prefs, panels }: CommandParts): Promise<void> {
  const next = name === ""
    ? THEMES[(THEMES.indexOf(prefs.get().theme) + 1) % THEMES.length]
    : THEMES.find((one) => one === name);
  if (next === undefined) return panels.act.tell(`Unknown theme ${name}. Choose ${THEMES.join(", ")}`);
  await prefs.set({ theme: next }).then(
    () => panels.act.tell(`Theme: ${next}`),
    (error: unknown) => panels.act.tell(messageOf(error)),
  );
}

async function model(name: string, panels: PanelParts): Promise<void> {
  if (name === "") return panels.act.open(new ModelPicker(panels));
  const cut = name.indexOf("/");
  const typed = cut > 0
    ? { provider: name.slice(0, cut), name: name.slice(cut + 1) }
    : { provider: panels.session().provider, name };
  if (await isUnlisted(typed, panels)) panels.act.open(new ModelPicker(panels, { typed }));
  else await panels.act.useModel(typed);
}

const LIST_MS = 3_000;

/** Returns false if the service does not list its models in time. */
async function isUnlisted(
  { provider, name }: { readonly provider: string; readonly name: string },
  { providers }: PanelParts,
): Promise<boolean> {
  const late = AbortSignal.timeout(LIST_MS);
  const listed = async () => (await (await providers()).models({ provider, signal: late }))[0];
  const list = await abortable(listed(), late).catch(() => undefined);
  return list?.source === "service" && list.models.length > 0 && !list.models.some((model) => model.name === name);
}

/** A word in braces is an action, for which the help shows the key. */
const KEYS: readonly (readonly [string, string])[] = [
  ["Enter", "send; while a request runs: add to its next step"],
  ["Shift-Enter", "insert a new line; so do Alt-Enter and Ctrl-J"],
  ["Up, Down", "recall earlier input; on an empty input, {takeBack} edits a queued message"],
  ["{inputs}", "find an earlier input of this folder"],
  ["Tab", "complete a command or a path"],
  ["@letters", "name a file, whose text the first step sees"],
  ["!npm test", "run a command yourself, with your rights; the next request can read its output"],
  ["@shot.png", "attach an image, as does a dropped file; Backspace removes it"],
  ["{pageUp}, {pageDown}, wheel", "scroll; {lineUp}, {lineDown} by a line; {start}, {end} to the ends"],
  ["y, n, a, …", "on an empty input: answer what Vis asks"],
  ["Ctrl-G", "move to the question while the input has text; again: move back"],
  ["Ctrl-X Ctrl-E", "edit the text in your editor (VISUAL or EDITOR)"],
  ["Ctrl-V", "attach the image that is in the clipboard"],
  ["{back}, {forth}", "go to the answer or request before, and after"],
  ["{planMode}", "ask for a plan: adds /plan to the input, or removes it"],
  ["{escape}", "cancel the running request, close a panel; twice: go back to an earlier request"],
  ["{interrupt}", "clear the input, or else cancel; twice: quit"],
  ["{redraw}", "draw the screen again"],
  ["{suspend}", "suspend; fg in the shell resumes"],
  ["Shift + mouse", "select text in the terminal"],
];

export function keyRows(own: Prefs["keys"]): readonly (readonly [string, string])[] {
  const filled = (text: string): string =>
    text.replace(/\{(\w+)\}/g, (_, action: KeyAction) => shownKey(action, own) || "(no key)");
  return KEYS.map(([key, effect]) => [filled(key), filled(effect)]);
}

function helpTexts(commands: readonly PaletteCommand[], own: Prefs["keys"]): readonly TextPart[] {
  const part = (head: string, of: readonly (readonly [string, string])[]): TextPart => {
    const hang = Math.max(...of.map(([key]) => key.length)) + 2;
    return { head, text: of.map(([key, what]) => key.padEnd(hang) + what).join("\n"), hang };
  };
  const named = commands.map(({ name, detail, keys }) =>
    [`/${name}`, keys === "" ? detail : `${detail} (${keys})`] as const
  );
  const mapped = Object.entries(own).map(([action, key]) => [keyLabel(key), action] as const);
  const yours = mapped.length === 0 ? [] : [part("Your own keys, which take precedence", mapped)];
  return [...yours, part("Keys", keyRows(own)), part("Commands", named)];
}

/** Returns true for an unknown command, because a file of the user may define the command. */
export function isOfFile(text: string, commands: readonly PaletteCommand[]): boolean {
  const typed = typedCommand(text);
  return typed !== null && (commandNamed(typed.name, commands)?.ofFile ?? true);
}

export function asksModel(text: string, commands: readonly PaletteCommand[]): boolean {
  const typed = typedCommand(text);
  return typed === null ? !isCommand(text) : commandNamed(typed.name, commands)?.asks ?? false;
}

function commandNamed(name: string, commands: readonly PaletteCommand[]): PaletteCommand | undefined {
  return commands.find((one) => one.name === name || one.aliases?.includes(name));
}

const CONVERSATIONS = "/conversations";
const UNDO = "/undo for the files of the last request, and /rewind to an earlier request";

const WORDS: Readonly<Record<string, string>> = {
  ...FAMILIAR_WORDS,
  ...{ sessions: CONVERSATIONS, session: CONVERSATIONS, chats: CONVERSATIONS, threads: CONVERSATIONS },
  ...{ list: CONVERSATIONS, ls: CONVERSATIONS, history: CONVERSATIONS },
  ...{ revert: UNDO, rollback: UNDO, restore: UNDO, reset: UNDO, checkpoint: UNDO, checkpoints: UNDO },
  branch: "/fork",
  clear: "/new",
  search: "/find, and vis search for all conversations",
  login: "/model, which also asks for keys",
  logout: "vis auth logout",
  config: "/settings for the display, and vis config",
  ...{ doctor: "vis doctor", approvals: "vis approvals", "add-dir": "vis --add-dir DIR, at its start" },
  hotkeys: "/help",
};

/** Without `giveBack`, sends a text that begins like an unknown command, such as `/tmp is full`. */
export function submitted(
  outgoing: Outgoing,
  { commands, send, giveBack, tell }: {
    readonly commands: readonly PaletteCommand[];
    readonly send: (outgoing: Outgoing) => void;
    readonly giveBack: ((outgoing: Outgoing) => void) | null;
    readonly tell: (text: string) => void;
  },
): void {
  const typed = typedCommand(outgoing.text);
  if (typed === null) return send(outgoing);
  const { name, rest } = typed;
  const command = commandNamed(name, commands);
  if (command) return void command.run(rest.trim(), outgoing);
  if (giveBack === null) return send(outgoing);
  giveBack(outgoing);
  const near = nearestName(name, commands.map((one) => one.name));
  const ours = Object.hasOwn(WORDS, name) ? WORDS[name] : undefined;
  const hint = ours !== undefined
    ? `Vis has ${ours}`
    : near === null
    ? "/help lists all commands"
    : `Did you mean /${near}?`;
  tell(`Unknown command /${name}. ${hint}`);
}
