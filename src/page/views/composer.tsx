import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { requestOfImages } from "../../domain/query/stored_query.ts";
import { Button } from "../parts/button.tsx";
import { attach, attached } from "../store/attached.ts";
import { elements } from "../store/elements.ts";
import { guarded } from "../store/entry.ts";
import { saidStatus, say } from "../store/status.ts";
import { thread } from "../store/thread_shown.ts";
import { AttachButton, AttachedImages } from "./attached_images.tsx";
import { RequestOptions } from "./request_options.tsx";

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
    <form
      id="composer"
      onSubmit={onSubmit}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => take(event, event.dataTransfer)}
    >
      {children}
      <p id="status" role="status" aria-live="polite" class={bad ? "bad" : ""}>{text}</p>
      <AttachedImages />
      <div>
        <textarea
          id="request"
          rows={1}
          placeholder={running ? "Add instructions…" : "What should Vis do?"}
          aria-label="Request"
          ref={elements.request}
          onInput={grow}
          onKeyDown={onKey}
          onPaste={(event) => take(event, event.clipboardData)}
        />
        <AttachButton />
        <Button id="cancel" hidden={!running} run={() => guarded(() => thread.cancel())}>Cancel</Button>
        <button id="send" type="submit" class="primary">Send</button>
      </div>
      <RequestOptions />
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

/** Attaches pasted or dropped images; everything else is left to the browser. */
function take(event: Event, from: DataTransfer | null): void {
  const files = [...from?.files ?? []];
  if (files.length === 0) return;
  event.preventDefault();
  void guarded(async () => {
    if (!await attach(files)) say("Only PNG, JPEG, GIF and WebP images can be attached", { bad: true });
  });
}

function onKey(event: KeyboardEvent): void {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  void send();
}

async function send(): Promise<void> {
  const area = elements.request.current;
  const typed = area?.value ?? "";
  const images = attached.value;
  const text = requestOfImages(typed, images);
  if (area === null || text.trim() === "") return;
  if (images.length > 0 && thread.running.value) return say("Images go with the next request", { bad: true });
  area.value = "";
  attached.value = [];
  grow();
  say("");
  const state = { taken: false };
  await guarded(async () => {
    try {
      await thread.send(text, { images: images.map(({ url }) => url), taken: () => state.taken = true });
    } catch (error) {
      if (!state.taken && area.value === "") area.value = typed; // keeps what was typed
      if (!state.taken) attached.value = [...images, ...attached.value];
      grow();
      throw error;
    }
  });
}
