import type { Image } from "../../../domain/images/image.ts";

/** An image that goes with a message. */
export interface AttachedImage {
  /** As the user and the model read it. */
  readonly path: string;
  readonly image: Image;
}

/** What the user wants to send. */
export interface Outgoing {
  /** With everything that was pasted into it, except what became a variable. */
  readonly text: string;
  /** Pasted texts that are too large to be read with the request, by the name of their variable. */
  readonly variables: Readonly<Record<string, string>>;
  /** By the chips that stand for them in the text. */
  readonly images: Readonly<Record<string, AttachedImage>>;
}
