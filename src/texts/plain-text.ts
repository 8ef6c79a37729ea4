/** Line ends, what a terminal takes for a command, and what turns the words behind it around. */
const LEADING_ASTRAY = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu;

/** A text on one line, such as a file's name, that changes nothing of what stands beside it. */
export function plainText(text: string): string {
  return text.replaceAll(LEADING_ASTRAY, ' ');
}
