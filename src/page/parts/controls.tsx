import { type ButtonHTMLAttributes, type ComponentChildren, Fragment, type JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

interface ButtonProps extends Omit<ButtonHTMLAttributes, "onClick" | "label"> {
  readonly run: () => unknown;
  readonly children: ComponentChildren;
}

export function Button({ run, children, ...given }: ButtonProps): JSX.Element {
  return <button type="button" {...given} onClick={() => void run()}>{children}</button>;
}

interface MenuProps {
  readonly id: string;
  readonly summary: JSX.Element;
  readonly hidden?: boolean;
  readonly children: ComponentChildren;
}

export function Menu({ summary, children, ...given }: MenuProps): JSX.Element {
  const menu = useRef<HTMLDetailsElement>(null);
  const close = (): void => {
    if (menu.current) menu.current.open = false;
  };
  useLayoutEffect(() => {
    const onClick = ({ target }: Event): void => {
      if (!menu.current?.contains(target as Node)) close();
    };
    document.addEventListener("click", onClick);
    return () => document.removeEventListener("click", onClick);
  }, []);
  const onKey = (event: KeyboardEvent): void => {
    if (event.key !== "Escape" || !menu.current?.open) return;
    event.stopPropagation();
    close();
    menu.current.querySelector("summary")?.focus();
  };
  return (
    <details class="menu" ref={menu} onKeyDown={onKey} {...given}>
      {summary}
      <div onClick={({ target }) => target instanceof HTMLButtonElement && close()}>{children}</div>
    </details>
  );
}

const SHOWN_MS = 1500;

export function CopyButton(
  { text, ...given }: { readonly text: () => string; readonly class: string; readonly "aria-label"?: string },
): JSX.Element {
  const [label, show] = useState("Copy");
  const copy = async (): Promise<void> => {
    show(await toClipboard(text()) ? "Copied" : "Copying failed");
    setTimeout(() => show("Copy"), SHOWN_MS);
  };
  return <button type="button" {...given} onClick={() => void copy()}>{label}</button>;
}

/** Browsers give the clipboard only to pages from https or loopback. Other pages can still copy a selection. */
async function toClipboard(text: string): Promise<boolean> {
  try {
    if (navigator.clipboard) return await navigator.clipboard.writeText(text).then(() => true);
  } catch {
    // The browser does not allow the clipboard, so the page uses the selection.
  }
  const area = document.createElement("textarea");
  area.className = "unseen";
  area.value = text;
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}

interface CopyableProps {
  readonly what: string;
  readonly children: ComponentChildren;
}

export function Copyable({ what, children }: CopyableProps): JSX.Element {
  const node = useRef<HTMLDivElement>(null);
  const code = (): string => node.current?.querySelector("pre code")?.textContent ?? "";
  return (
    <div class="copyable" ref={node}>
      {children}
      <CopyButton text={code} class="copy" aria-label={`Copy ${what}`} />
    </div>
  );
}

interface TabsProps {
  readonly label: string;
  readonly parts: Readonly<Record<string, () => ComponentChildren>>;
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

export function Tabs({ label, parts }: TabsProps): JSX.Element {
  const names = Object.keys(parts);
  const [chosen, choose] = useState(names[0] ?? "");
  const list = useRef<HTMLDivElement>(null);
  const onKey = (event: KeyboardEvent): void => {
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.stopPropagation();
    const at = (names.indexOf(chosen) + step + names.length) % names.length;
    choose(names[at] ?? chosen);
    (list.current?.children[at] as HTMLElement | undefined)?.focus();
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={onKey}>
        {names.map((name) => (
          <button
            type="button"
            role="tab"
            aria-selected={name === chosen}
            tabIndex={name === chosen ? 0 : -1}
            onClick={() => choose(name)}
          >
            {name}
          </button>
        ))}
      </div>
      <div class="panel" role="tabpanel" tabIndex={0} aria-label={chosen}>
        <Fragment key={chosen}>{parts[chosen]?.()}</Fragment>
      </div>
    </>
  );
}
