import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { attach, attached, detach, IMAGE_TYPES } from "../store/attached.ts";

/** The images that go with the next request; one click removes one. */
export function AttachedImages(): JSX.Element | null {
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

/** Opens the browser's choice of files. */
export function AttachButton(): JSX.Element {
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
          currentTarget.value = ""; // the same file can be chosen again
          void attach(chosen);
        }}
      />
      <Button id="attach" title="Attach images" aria-label="Attach images" run={() => files.current?.click()}>+</Button>
    </>
  );
}
