import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { BatchInvoice } from '../domain/ports/ledger.ts';

/**
 * A batch's invoices as they were read from the ledger once, kept in a file: each part of the report is then written from
 * the same reading, whatever the ledger learns meanwhile, and the ledger is read once instead of four times.
 */
export interface InvoiceSpool {
  portions(): AsyncIterable<readonly BatchInvoice[]>;
}

/** Yields each portion on, and writes it down; the spool is complete when the source ended. */
export async function* spooling(
  path: string,
  invoices: AsyncIterable<readonly BatchInvoice[]>,
): AsyncGenerator<readonly BatchInvoice[]> {
  const file = await open(path, 'w', 0o600);
  try {
    for await (const portion of invoices) {
      if (portion.length === 0) continue;
      await file.appendFile(`${lineOf(portion)}\n`);
      yield portion;
    }
  } finally {
    await file.close();
  }
}

/** JSON leaves these two as they are, and Node's line reader takes them for line ends. */
function lineOf(portion: readonly BatchInvoice[]): string {
  return JSON.stringify(portion).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

/** Opens the file that `spooling` has written: one JSON array of invoices a line. */
export function openSpool(path: string): InvoiceSpool {
  return {
    async *portions() {
      const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
      for await (const line of lines) yield JSON.parse(line) as readonly BatchInvoice[];
    },
  };
}
