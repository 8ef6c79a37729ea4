import { createHash } from 'node:crypto';
import { statementLabel } from '../statement-label.ts';

const names = new Map<string, string>();

/**
 * A name under which a connection keeps a statement parsed and planned; null for one that is not the ledger's own. It holds a digest of the text:
 * two texts under one name would be refused by the driver.
 */
export function statementName(text: string): string | null {
  const known = names.get(text);
  if (known !== undefined) return known;
  const found = statementLabel(text);
  if (found === null) return null;
  const name = `${found}-${createHash('sha256').update(text).digest('hex').slice(0, 12)}`;
  names.set(text, name);
  return name;
}
