import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { BatchInvoice } from '../domain/records/batch-record.ts';

/**
 * A batch's invoices as they were read from the ledger once, in a file: each part of the report is then written from the same reading, whatever the
 * ledger learns meanwhile.
 */
export interface InvoiceSpool {
  /** Yields each portion on, and keeps it; the spool is complete when the source ended. */
  fill(invoices: AsyncIterable<readonly BatchInvoice[]>): AsyncGenerator<readonly BatchInvoice[]>;
  /** What was kept, in its order. */
  portions(): AsyncIterable<readonly BatchInvoice[]>;
}

/** Makes a spool whose file stands at `path`: one JSON array of invoices a line. */
export function createSpool(path: string): InvoiceSpool {
  return {
    async *fill(invoices) {
      const file = await open(path, 'w', 0o600);
      try {
        for await (const portion of invoices) {
          await file.appendFile(`${lineOf(portion)}\n`);
          yield portion;
        }
      } finally {
        await file.close();
      }
    },
    async *portions() {
      const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
      for await (const line of lines) yield JSON.parse(line) as readonly BatchInvoice[];
    },
  };
}

/** JSON leaves these two as they are, and Node's line reader takes them for line ends. */
function lineOf(portion: readonly BatchInvoice[]): string {
  return JSON.stringify(portion).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}
