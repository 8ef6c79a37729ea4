/** For whom a command is spelled. */
export interface CommandReader {
  readonly application: string;
  /** Other applications are beside it, so that a command must name its own. */
  readonly isOneOfSeveral: boolean;
}

/** Stands for the name where the reader has to choose one of several applications. */
export const ANY_APPLICATION = 'NAME';

/**
 * A command as its reader can type it: `lote retry BATCH`, and behind it `--application anna` where there are several.
 * Every text that tells somebody to use a command which works for one application has it from here; a test reads the
 * code for others.
 */
export function commandLine(reader: CommandReader, words: string): string {
  return `lote ${words}${applicationWords(reader)}`;
}

/** What stands behind a command where there are several applications, such as ` --application anna`; else nothing. */
export function applicationWords({ application, isOneOfSeveral }: CommandReader): string {
  return isOneOfSeveral ? ` --application ${application}` : '';
}
