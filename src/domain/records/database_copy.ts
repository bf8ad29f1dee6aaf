export interface DatabaseCopyRequest {
  /** A file, or the URL of a PostgreSQL database. */
  readonly from: string;
  /** The other of the two: a new file, or an empty database. */
  readonly to: string;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: DatabaseCopyProgress) => void;
}

export interface DatabaseCopyProgress {
  readonly step: "copying" | "verifying";
  readonly rows: number;
  readonly of: number;
}

export interface DatabaseCopyReport {
  /** Without passwords. */
  readonly from: string;
  readonly to: string;
  /** All of them were compared with the source. */
  readonly rows: number;
  readonly ms: number;
}
