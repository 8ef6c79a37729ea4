import { describe, expect, it } from 'vitest';
import { simulatedEngine } from '../../../src/sandbox/engine.ts';
import type { EngineInvoice } from '../../../src/sandbox/engine.ts';

function invoiceWith(...taxCodes: readonly string[]): EngineInvoice {
  const lines = taxCodes.map((tax_code) => ({ description: 'Service', quantity: 1, unit_price: 1, tax_code }));
  return {
    id: 'inv_1',
    applicationId: 'app_1',
    body: { merchant_id: 'mrc_1', customer: { name: 'Buyer' }, currency: 'EUR', lines },
    text: '',
  };
}

describe('the simulated engine', () => {
  const engine = simulatedEngine({ settleMs: 300 });

  it.each([['IVA_14'], ['IVA_0'], ['EXEMPT'], ['IVA_990'], ['iva_99']])('issues %s', (taxCode) => {
    expect(engine.process(invoiceWith(taxCode))).toEqual({ delayMs: 300, outcome: { status: 'issued' } });
  });

  it('fails an invoice by its first line of IVA_99', () => {
    expect(engine.process(invoiceWith('IVA_14', 'IVA_99', 'IVA_99'))).toEqual({
      delayMs: 300,
      outcome: {
        status: 'failed',
        code: 'tax_code_unknown',
        message: 'lines[1].tax_code: IVA_99 is not a tax code of this engine.',
      },
    });
  });

  it('says the same of the same invoice each time it is asked', () => {
    const invoice = invoiceWith('IVA_99');

    expect(engine.process(invoice)).toEqual(engine.process(invoice));
  });
});
