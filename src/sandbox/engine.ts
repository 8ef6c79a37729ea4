import type { z } from 'zod';
import { list, matching, number, object, text } from './field.ts';

export interface EngineInvoice {
  readonly id: string;
  readonly applicationId: string;
  readonly body: InvoiceBody;
  /** The request's text, which has exact decimals; `body` has floats. */
  readonly text: string;
}

/** The engine's final verdict on an invoice. */
export type EngineOutcome =
  | { readonly status: 'issued' }
  | { readonly status: 'failed'; readonly code: string; readonly message: string };

/** The engine's final verdict, and its time. */
export interface EngineVerdict {
  /** Milliseconds after the creation of the invoice; 0 if the verdict is final at once. */
  readonly delayMs: number;
  readonly outcome: EngineOutcome;
}

/**
 * Turns an invoice into a fiscal document. The sandbox may call it twice for one invoice (after a restart), and it must
 * then give the same verdict.
 */
export interface Engine {
  process(invoice: EngineInvoice): EngineVerdict | Promise<EngineVerdict>;
}

/** Lines with this tax code make the simulated engine fail the invoice. */
export const FAILING_TAX_CODE = 'IVA_99';

/** Issues every invoice but those with a line of tax code `IVA_99`; the verdict comes `settleMs` after the creation. */
export function simulatedEngine({ settleMs }: { readonly settleMs: number }): Engine {
  return {
    process({ body }) {
      const line = body.lines.findIndex(({ tax_code }) => tax_code === FAILING_TAX_CODE);
      return { delayMs: settleMs, outcome: line === -1 ? { status: 'issued' } : unknownTaxCode(line) };
    },
  };
}

function unknownTaxCode(line: number): EngineOutcome {
  return {
    status: 'failed',
    code: 'tax_code_unknown',
    message: `lines[${line}].tax_code: ${FAILING_TAX_CODE} is not a tax code of this engine.`,
  };
}

const LONGEST_TEXT = 2000;
const MOST_LINES = 1000;

const Line = object({
  description: text({ max: LONGEST_TEXT }),
  quantity: number,
  unit_price: number,
  tax_code: text({ max: 64 }),
});
/** The published fields of an invoice. */
export const InvoiceBody = object({
  merchant_id: matching((id) => /^mrc_[A-Za-z0-9]{1,64}$/.test(id), 'an identifier that begins with mrc_'),
  customer: object({ name: text({ max: LONGEST_TEXT }), tax_id: text({ max: 64 }).optional() }),
  currency: matching((code) => /^[A-Z]{3}$/.test(code), 'three capital letters'),
  lines: list(Line, { min: 1, max: MOST_LINES }),
});

/** An invoice as a client sends it. */
export type InvoiceBody = z.infer<typeof InvoiceBody>;
