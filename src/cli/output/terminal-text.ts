import { plainText } from '../../texts/plain-text.ts';

/** Lines for a terminal: names of files, headers and the service's words may hold what it takes for a command. */
export function terminalText(text: string): string {
  return text
    .split('\n')
    .map((line) => plainText(line))
    .join('\n');
}

/** Writes lines for people to stderr; nothing where a program reads the output (`--json`). */
export function lineWriter({ json }: { readonly json: boolean }): (line: string) => void {
  return (line) => void (json || process.stderr.write(`${terminalText(line)}\n`));
}
