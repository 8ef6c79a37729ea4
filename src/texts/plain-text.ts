/** A text on one line, such as a file's name: it may hold line ends, and what a terminal takes for a command. */
export function plainText(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ');
}
