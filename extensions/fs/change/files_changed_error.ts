/** Files are no longer as the changes left them that are to be undone. */
export class FilesChanged extends Error {
  override readonly name = "FilesChanged";
  readonly code = "files_changed";
}
