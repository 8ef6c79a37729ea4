import type { Finding } from '../domain/invoice.ts';

/** Thrown inside ingest when Lote cannot say what the rows of a file are; `readFile` turns it into a refused result. */
export class Refusal extends Error {
  readonly finding: Finding;

  constructor(code: string, message: string, place: { readonly row?: number; readonly column?: string } = {}) {
    super(message);
    this.name = 'Refusal';
    this.finding = { row: place.row ?? null, column: place.column ?? null, code, message, severity: 'error' };
  }
}
