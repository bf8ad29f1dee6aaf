import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { elements } from "../store/elements.ts";
import { guarded } from "../store/entry.ts";
import { saidStatus, say } from "../store/status.ts";
import { thread } from "../store/thread_shown.ts";

/** Where requests are written; `children` stand above it. */
export function Composer({ children }: { readonly children: ComponentChildren }): JSX.Element {
  useLayoutEffect(() => {
    addEventListener("resize", grow); // lines wrap differently then
    return () => removeEventListener("resize", grow);
  }, []);
  const running = thread.running.value;
  const { text, bad } = saidStatus.value;
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    void send();
  };
  return (
    <form id="composer" onSubmit={onSubmit}>
      {children}
      <p id="status" role="status" aria-live="polite" class={bad ? "bad" : ""}>{text}</p>
      <div>
        <textarea
          id="request"
          rows={1}
          placeholder={running ? "Add instructions…" : "What should Vis do?"}
          aria-label="Request"
          ref={elements.request}
          onInput={grow}
          onKeyDown={onKey}
        />
        <Button id="cancel" hidden={!running} run={() => guarded(() => thread.cancel())}>Cancel</Button>
        <button id="send" type="submit" class="primary">Send</button>
      </div>
      <p class="hint">Enter: send · Shift+Enter: new line · Esc: cancel · Ctrl+K: search</p>
    </form>
  );
}

/** Puts a text into the input, to be edited or sent. */
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

function onKey(event: KeyboardEvent): void {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  void send();
}

async function send(): Promise<void> {
  const area = elements.request.current;
  const text = area?.value ?? "";
  if (area === null || text.trim() === "") return;
  area.value = "";
  grow();
  say("");
  const state = { taken: false };
  await guarded(async () => {
    try {
      await thread.send(text, () => state.taken = true);
    } catch (error) {
      if (!state.taken && area.value === "") area.value = text; // keeps what was typed
      grow();
      throw error;
    }
  });
}
