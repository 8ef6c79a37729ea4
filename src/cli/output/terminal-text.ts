import { plainText } from '../../texts/plain-text.ts';

/** Lines for a terminal: names of files, headers and the service's words may hold what it takes for a command. */
export function terminalText(text: string): string {
  return text
    .split('\n')
    .map((line) => plainText(line))
    .join('\n');
}
