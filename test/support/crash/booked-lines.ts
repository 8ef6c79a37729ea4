import { readFile } from 'node:fs/promises';
import { simulatedEngine, type Engine } from '../../../src/sandbox/engine.ts';

/** How the books of the service differ from a file, counted in invoices. */
export interface BookDifferences {
  /** In the file, not in the books. */
  readonly lost: number;
  /** In the books more than once. */
  readonly double: number;
  /** In the books with other lines than in the file. */
  readonly cut: number;
}

/** Every line that the service was asked to issue, kept beside its books. */
export interface BookedLines {
  /** The simulated engine, which sees the content of each created invoice. */
  readonly engine: Engine;
  /** Compares the file with the books, line by line. The file must be one of `writeInvoiceFile`: plain cells, a customer per invoice. */
  differences(file: string): Promise<BookDifferences>;
}

/** An invoice in one text: its lines in the order of the file. */
type Content = readonly string[];

const INVOICE_OF_LINE = /^(?<invoice>\S+ \S+)/;

export function bookedLines(settleMs: number): BookedLines {
  const simulated = simulatedEngine({ settleMs });
  const created = new Map<string, Content>();
  return {
    engine: {
      process(invoice) {
        const lines = invoice.body.lines.map((line) =>
          lineText(line.description, line.quantity, line.unit_price, line.tax_code),
        );
        created.set(invoice.id, lines);
        return simulated.process(invoice);
      },
    },
    async differences(file) {
      const expected = await contentOf(file);
      const booked = groupedBy(created.values(), nameOf);
      const found = { lost: 0, double: 0, cut: 0 };
      for (const [name, lines] of expected) {
        const documents = booked.get(name) ?? [];
        if (documents.length === 0) found.lost += 1;
        if (documents.length > 1) found.double += 1;
        if (documents.some((document) => document.join('\n') !== lines.join('\n'))) found.cut += 1;
      }
      return found;
    },
  };
}

/** The lines of each invoice of a file, by the invoice's name. */
async function contentOf(file: string): Promise<ReadonlyMap<string, Content>> {
  const [, ...rows] = (await readFile(file, 'utf8')).trimEnd().split('\n');
  const lines = rows.map((row) => {
    const [description = '', quantity, unitPrice, taxCode = ''] = row.split(',').slice(7);
    return lineText(description, Number(quantity), Number(unitPrice), taxCode);
  });
  return groupedBy(lines, (line) => nameOf([line]));
}

function lineText(...cells: readonly (string | number)[]): string {
  return cells.join('|');
}

/** "Artigo C1/7" of "Artigo C1/7 linha 2": the same in each line of one invoice. */
function nameOf([line = '']: Content): string {
  return INVOICE_OF_LINE.exec(line)?.groups?.['invoice'] ?? line;
}

function groupedBy<Item>(items: Iterable<Item>, keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}
