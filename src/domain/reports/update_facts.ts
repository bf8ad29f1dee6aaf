/** What `vis update` asks for. */
export interface UpdateRequest {
  /** Address or folder of a release; the setting `update.from` if undefined. */
  readonly from?: string | undefined;
  /** Public key of minisign; the setting `update.publicKey` if undefined. */
  readonly key?: string | undefined;
  /** Only looks; downloads nothing. */
  readonly check: boolean;
  /** Installs the release also if it is older, or the same. */
  readonly force: boolean;
  /** Receives what the release is, before its archive is downloaded. */
  readonly onFound: (release: FoundRelease) => void;
  readonly signal: AbortSignal;
}

export interface FoundRelease {
  readonly version: string;
  /** Compared with this program. */
  readonly age: "newer" | "same" | "older";
  /** The part of its CHANGELOG since this version; "" if there is none. */
  readonly changes: string;
}

export interface InstalledRelease {
  readonly path: string;
  /** Where the executable from before is. */
  readonly kept: string;
}
