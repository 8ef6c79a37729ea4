import { READ_AS, parseReadAs } from '../../domain/read-as.ts';
import type { ReadAs } from '../../domain/read-as.ts';

const TOKEN = String.raw`(?:quantity|unit_price|doubt|references|profile|encoding|delimiter|duplicates)=[\w.:+-]+`;
/** A whole cell of them: a text that happens to hold one is none. */
const CELL = new RegExp(String.raw`(?<![\w.:+= -])${TOKEN}(?: ${TOKEN})*(?![\w.:+= -])`);

/** What the first bytes of a corrections file say, whatever their encoding: it decides how they are decoded. */
export function readAsInHead(head: Uint8Array): ReadAs {
  const ascii = Buffer.from(head).toString('latin1').replaceAll('\0', '');
  const at = ascii.indexOf(READ_AS);
  return at < 0 ? {} : parseReadAs(CELL.exec(ascii.slice(at + READ_AS.length))?.[0] ?? '');
}
