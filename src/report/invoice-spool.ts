import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { BatchInvoice } from '../domain/ports/ledger/batch-record.ts';

/** Invoices that stay in memory, with their findings: about 20 MB. To write them down and parse them again for each part takes longer than to write the parts. */
const MOST_IN_MEMORY = 20_000;
/** Rows of an invoice that weigh as much as the rest of it. */
const ROWS_OF_ONE = 20;

/**
 * A batch's invoices as they were read from the ledger once: each part of the report is then written from the same reading,
 * whatever the ledger learns meanwhile, and the ledger is read once instead of four times. Those of a large batch are kept in
 * a file.
 */
export interface InvoiceSpool {
  /** Yields each portion on, and keeps it; the spool is complete when the source ended. */
  fill(invoices: AsyncIterable<readonly BatchInvoice[]>): AsyncGenerator<readonly BatchInvoice[]>;
  /** What was kept, in its order. */
  portions(): AsyncIterable<readonly BatchInvoice[]>;
}

/** Makes a spool whose file, if it needs one, stands at `path`. */
export function createSpool(path: string, mostInMemory = MOST_IN_MEMORY): InvoiceSpool {
  let kept: (readonly BatchInvoice[])[] = [];
  let isFile = false;
  return {
    async *fill(invoices) {
      const file = createSpoolFile(path);
      let weight = 0;
      try {
        for await (const portion of invoices) {
          if (portion.length === 0) continue;
          weight += portion.reduce(
            (sum, { findings, rows }) => sum + 1 + findings.length + Math.floor(rows.length / ROWS_OF_ONE),
            0,
          );
          kept.push(portion);
          if (weight > mostInMemory) {
            isFile = true;
            await file.append(kept);
            kept = [];
          }
          yield portion;
        }
      } finally {
        await file.close();
      }
    },
    async *portions() {
      if (isFile) yield* readPortions(path);
      else yield* kept;
    },
  };
}

/** One JSON array of invoices a line; there is no file before the first line. */
function createSpoolFile(path: string) {
  let file: Awaited<ReturnType<typeof open>> | null = null;
  return {
    async append(portions: readonly (readonly BatchInvoice[])[]): Promise<void> {
      file ??= await open(path, 'w', 0o600);
      for (const portion of portions) await file.appendFile(`${lineOf(portion)}\n`);
    },
    async close(): Promise<void> {
      await file?.close();
    },
  };
}

/** JSON leaves these two as they are, and Node's line reader takes them for line ends. */
function lineOf(portion: readonly BatchInvoice[]): string {
  return JSON.stringify(portion).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

async function* readPortions(path: string): AsyncGenerator<readonly BatchInvoice[]> {
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  for await (const line of lines) yield JSON.parse(line) as readonly BatchInvoice[];
}
