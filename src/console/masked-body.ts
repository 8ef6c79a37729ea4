/** String members that name a person or a company; the rest of a body is amounts and texts of goods. */
const PERSONAL = /("(?:name|tax_id|legal_name|email|nif)"\s*:\s*)"((?:[^"\\]|\\.)*)"/gu;

/**
 * A request's body as it may be shown to somebody else: names and tax numbers become dots, everything else stays byte for byte. It is
 * not parsed: a number would lose its exact text.
 */
export function maskedBody(body: string): string {
  return body.replaceAll(PERSONAL, (_, member: string, value: string) => `${member}"${masked(value)}"`);
}

/** The last two signs stay, so that two requests can be told apart; short values go whole. */
function masked(value: string): string {
  const signs = Array.from(value);
  return signs.length < 6 || value.includes('\\') ? '•••' : `•••${signs.slice(-2).join('')}`;
}
