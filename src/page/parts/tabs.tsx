import { type ComponentChildren, Fragment, type JSX } from "preact";
import { useRef, useState } from "preact/hooks";

interface TabsProps {
  readonly label: string;
  /** Makes the content of each tab. */
  readonly parts: Readonly<Record<string, () => ComponentChildren>>;
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

/** Tabs, one visible at a time. */
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
