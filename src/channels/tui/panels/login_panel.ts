import { matchesKey } from "@earendil-works/pi-tui";
import type { ProviderAdmin } from "../../channel.ts";
import { flat } from "../text/one_line.ts";
import { wrapped } from "../text/wrapped.ts";
import { BasePanel, type PanelParts } from "./panel.ts";
import { LineInput } from "./widgets.ts";

const GITHUB = "github.com";

export class LoginPanel extends BasePanel {
  readonly title: string;
  override readonly rows = 8;
  readonly #provider: string;
  readonly #next: () => void;
  readonly #input = new LineInput({ prompt: "Key: ", hidden: true });
  #admin: ProviderAdmin | null = null;
  #told = "";
  #byKey = true;

  constructor(parts: PanelParts, { provider, next }: { readonly provider: string; readonly next: () => void }) {
    super(parts);
    this.title = `Log in to ${provider}`;
    this.#provider = provider;
    this.#next = next;
    this.load("kind", {
      work: async () => {
        const admin = await parts.providers();
        return { admin, kind: await admin.loginKind(provider) };
      },
      then: ({ admin, kind }) => {
        this.#admin = admin;
        this.#byKey = kind === "key";
        const page = admin.keyPage(provider);
        this.#told = page === "" ? "Paste the key." : `Create a key at ${page} and paste it here.`;
        if (!this.#byKey) this.#waitFor(admin);
      },
    });
  }

  get hint(): string {
    return this.#byKey ? "Enter saves the key · Esc" : "Esc";
  }

  protected override draw({ width }: { readonly width: number }): readonly string[] {
    const status = this.status();
    return [
      ...wrapped(this.#told, width),
      ...(this.#byKey ? this.#input.render(width) : []),
      ...(status === "" ? [] : wrapped(status, width)),
    ];
  }

  protected override key(data: string): void {
    if (!this.#byKey) return;
    if (matchesKey(data, "enter")) this.#save(this.#input.value.trim());
    else this.#input.handle(data);
  }

  protected override get clickable(): boolean {
    return false;
  }

  protected override back(): void {
    this.#next();
  }

  #save(key: string): void {
    const admin = this.#admin;
    if (key === "" || admin === null) return;
    this.load("key", {
      work: async (signal) => {
        const trial = await admin.tryKey(this.#provider, key, signal);
        if (trial?.state === "refused") {
          throw new Error(
            `Cannot save the key: ${this.#provider} rejected it (${trial.found}); enter another key, or save this key ` +
              `unchecked with vis auth login ${this.#provider} --no-check`,
          );
        }
        signal.throwIfAborted();
        await admin.saveKey(this.#provider, key);
        return trial?.state === "unknown" ? `Vis saved the key, but could not verify it. ${trial.found}` : "";
      },
      then: (note) => this.#done(note),
    });
  }

  #waitFor(admin: ProviderAdmin): void {
    this.load("login", {
      work: (signal) =>
        admin.deviceLogin(this.#provider, {
          domain: GITHUB,
          signal,
          onCode: ({ userCode, verificationUri }) => {
            this.#told = flat(`Open ${verificationUri} and enter the code ${userCode}`);
            this.parts.act.redraw();
          },
        }),
      then: () => this.#done(""),
    });
  }

  #done(note: string): void {
    this.#next();
    this.parts.act.tell(note === "" ? `Logged in to ${this.#provider}` : flat(note));
  }
}
