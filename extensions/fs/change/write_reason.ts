/** Why a change of files failed, in words. */
export function writeReason(error: unknown): string {
  if (error instanceof Deno.errors.PermissionDenied) return "permission denied";
  if (error instanceof Deno.errors.NotADirectory) return "a part of its path is a file";
  if (error instanceof Deno.errors.AlreadyExists) return "something of that name is there already";
  if (error instanceof Deno.errors.IsADirectory) return "it is a folder";
  if (error instanceof Deno.errors.NotFound) return "its folder is no longer there";
  if (error instanceof Deno.errors.FilesystemLoop) return "a part of its path is a link that was not there before";
  if (error instanceof RangeError) return `${error.message.slice(0, 1).toLowerCase()}${error.message.slice(1)}`;
  // deno-lint-ignore vis/no-message-parsing -- Deno's own words, without the path
  return error instanceof Error ? error.message.replace(/, \w+ '.*$/, "") : String(error);
}
