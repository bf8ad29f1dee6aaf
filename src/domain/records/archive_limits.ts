/** Largest file of an exported conversation in bytes, for export and import: it must fit into memory as one text. */
export const MAX_ARCHIVE_BYTES = 256 * 1024 * 1024;
