import { matchesKey } from "@earendil-works/pi-tui";
import type { NewServer } from "../../../domain/admin_reports.ts";
import { nearestName } from "../../../domain/kit/names.ts";
import { someOf } from "../../../domain/kit/text.ts";
import { OTHER_SERVER, serverAddress } from "../../../domain/settings_section.ts";
import type { ProviderAdmin } from "../../channel.ts";
import { flat } from "../text/one_line.ts";
import { brokenLine, wrapped } from "../text/wrapped.ts";
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
      ...(status === "" ? [] : brokenLine(status, width)),
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

interface Question {
  readonly input: LineInput;
  readonly told: string;
  readonly take: (text: string) => void;
}

const EXAMPLE = "http://127.0.0.1:8080/v1";

export class ServerPanel extends BasePanel {
  readonly title = `Add ${OTHER_SERVER.title}`;
  readonly hint = "Enter · Esc";
  override readonly rows = 8;
  readonly #next: () => void;
  #question: Question = {
    input: new LineInput({ prompt: "Address: " }),
    told: `Type the address of the server, such as ${EXAMPLE}`,
    take: (text) => this.#askKey(text),
  };

  constructor(parts: PanelParts, { next }: { readonly next: () => void }) {
    super(parts);
    this.#next = next;
  }

  protected override draw({ width }: { readonly width: number }): readonly string[] {
    const { told, input } = this.#question;
    const status = this.status();
    return [
      ...wrapped(flat(told), width).slice(0, 4),
      ...input.render(width),
      ...(status === "" ? [] : brokenLine(status, width)),
    ];
  }

  protected override key(data: string): void {
    const { input, take } = this.#question;
    if (matchesKey(data, "enter")) take(input.value.trim());
    else input.handle(data);
  }

  protected override get clickable(): boolean {
    return false;
  }

  protected override back(): void {
    this.#next();
  }

  #askKey(text: string): void {
    const baseUrl = serverAddress(text);
    if (baseUrl === null) {
      throw new Error(`Cannot use the address ${text}: it is not an http or https URL; type one such as ${EXAMPLE}`);
    }
    this.#question = {
      input: new LineInput({ prompt: "Key: ", hidden: true }),
      told: `Paste the key of ${baseUrl}, or press Enter if it needs none.`,
      take: (key) => this.#try({ baseUrl, key }),
    };
  }

  #try(server: Pick<NewServer, "baseUrl" | "key">): void {
    this.load("models", {
      work: async (signal) => await (await this.parts.providers()).tryServer(server, signal),
      then: ({ models, problem, refused }) => {
        if (refused) {
          throw new Error(
            `Cannot use ${server.baseUrl}: ${server.key === "" ? "it needs a key" : "it rejected this key"}; type ${
              server.key === "" ? "the" : "another"
            } key`,
          );
        }
        const [first = ""] = models;
        if (models.length === 1) return this.#add({ ...server, model: first });
        this.#question = {
          input: new LineInput({ prompt: "Model: " }),
          told: first === ""
            ? `Type the name of a model. Vis could not list the models: ${problem}`
            : `Type the name of a model, or press Enter for ${first}. The server offers ${someOf(models, 12)}.`,
          take: (text) => this.#take({ ...server, model: text || first }, models),
        };
      },
    });
  }

  #take(server: NewServer, models: readonly string[], kept = ""): void {
    const { model } = server, near = nearestName(model, models);
    if (models.length === 0 || models.includes(model) || model === kept) return this.#add(server);
    this.#question = {
      ...this.#question,
      told: `The server lists no ${model}${near === null ? "." : `; did you mean ${near}?`} ` +
        "Correct the name, or press Enter to keep it.",
      take: (text) => this.#take({ ...server, model: text }, models, model),
    };
  }

  #add(server: NewServer): void {
    if (server.model === "") throw new Error("Cannot add the server: the name of its model is empty; type a name");
    this.load("server", {
      work: async () => await (await this.parts.providers()).addServer(server),
      then: (provider) => this.leaveFor(() => this.parts.act.useModel({ provider, name: server.model })),
    });
  }
}
