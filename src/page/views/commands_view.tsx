import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { oneLine, runningText } from "../../domain/kit/text.ts";
import { Button } from "../parts/controls.tsx";
import { plural } from "../parts/texts.tsx";
import { type BackgroundCommand, runningCommands } from "../store/commands.ts";
import { guarded } from "../store/state.ts";
import { thread } from "../store/thread.ts";

const TITLE_CHARS = 200;

export function Commands(): JSX.Element | null {
  const running = runningCommands.running.value;
  const shown = runningCommands.shown.value;
  const ended = shown === null || running.some(({ id }) => id === shown.id) ? [] : [shown];
  if (running.length + ended.length === 0) return null;
  const count = running.length === 0
    ? "The command has ended"
    : `${plural(running.length, "command")} ${running.length === 1 ? "runs" : "run"} in the background`;
  return (
    <details
      id="commands"
      open={runningCommands.isOpen.value}
      onToggle={({ currentTarget }) => {
        runningCommands.isOpen.value = currentTarget.open;
        if (!currentTarget.open) runningCommands.shown.value = null;
      }}
    >
      <summary>{count}</summary>
      <ul aria-label="Commands in the background">
        {running.map((command) => <Command key={command.id} command={command} />)}
        {ended.map((command) => <Command key={command.id} command={command} ended />)}
      </ul>
    </details>
  );
}

function Command({ command, ended = false }: {
  readonly command: BackgroundCommand;
  readonly ended?: boolean;
}): JSX.Element {
  const [stopping, setStopping] = useState(false);
  const shown = runningCommands.shown.value?.id === command.id ? runningCommands.shown.value : null;
  const title = oneLine(command.command, TITLE_CHARS);
  const conversation = thread.id.value ?? "";
  const stop = async (): Promise<void> => {
    setStopping(true);
    if (await guarded(() => runningCommands.stop(conversation, command).then(() => true)) !== true) setStopping(false);
  };
  const toggle = (open: boolean): void => {
    if (open !== (shown !== null)) void guarded(() => runningCommands.show(conversation, open ? command : null));
  };
  return (
    <li>
      <details open={shown !== null} onToggle={({ currentTarget }) => toggle(currentTarget.open)}>
        <summary>
          <code title={command.command}>{title}</code>
          <span class="time">{ended ? "ended" : runningText(Math.max(0, Date.now() - command.startedAt))}</span>
          {shown === null && <span class="last">{command.output.trimEnd().split("\n").at(-1)}</span>}
        </summary>
        {shown !== null && <CommandOutput title={title} text={shown.output} />}
      </details>
      {!ended && (
        <Button class="small" disabled={stopping} aria-label={`Stop ${title}`} run={stop}>
          {stopping ? "Stopping…" : "Stop"}
        </Button>
      )}
    </li>
  );
}

function CommandOutput({ title, text }: { readonly title: string; readonly text: string }): JSX.Element {
  const node = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    if (isAtEnd.current && node.current) node.current.scrollTop = node.current.scrollHeight;
  }, [text]);
  return (
    <pre
      tabIndex={0}
      aria-label={`Output of ${title}`}
      ref={node}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) =>
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < 2}
    >
      {text.trimEnd() || "No output yet"}
    </pre>
  );
}
