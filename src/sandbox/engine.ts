import type { InvoiceBody } from './invoice-body.ts';

export interface EngineInvoice {
  readonly id: string;
  readonly applicationId: string;
  readonly body: InvoiceBody;
  /** The request's text: exact decimals, which `body` holds as floats. */
  readonly text: string;
}

/** Final word of the engine about an invoice. */
export type EngineOutcome =
  | { readonly status: 'issued' }
  | { readonly status: 'failed'; readonly code: string; readonly message: string };

/** Final word of the engine, and when it is given. */
export interface EngineVerdict {
  /** Counted from the creation of the invoice; 0 when the answer is already final. */
  readonly delayMs: number;
  readonly outcome: EngineOutcome;
}

/**
 * What turns an invoice into a fiscal document.
 *
 * The sandbox has a simulated one; an adapter of a tax authority is a second implementation. It may be asked twice
 * about one invoice (after a restart), and must then give the same verdict.
 */
export interface Engine {
  process(invoice: EngineInvoice): EngineVerdict | Promise<EngineVerdict>;
}

/** Lines with this tax code make the simulated engine fail the invoice. */
export const FAILING_TAX_CODE = 'IVA_99';

/** Issues every invoice but those with a line of tax code `IVA_99`; says so `settleMs` after the creation. */
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
