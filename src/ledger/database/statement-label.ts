/** The ledger's own statements begin with their name; they are constants, and few. */
const NAMED = /^\/\* (?<name>[a-z0-9-]+) \*\//;

const labels = new Map<string, string>();

/** The name that a statement of the ledger begins with; null for one that is not the ledger's own. */
export function statementLabel(text: string): string | null {
  const known = labels.get(text);
  if (known !== undefined) return known;
  const found = NAMED.exec(text)?.groups?.['name'];
  if (found === undefined) return null;
  labels.set(text, found);
  return found;
}
