import { describe, expect, it } from 'vitest';
import { call, errorOf, invoiceFor, merchantIn, postInvoice } from './support/client.ts';
import { sandbox, withMerchant } from './support/fixtures.ts';

describe('POST /v1/invoices', () => {
  it('answers 201 with an inv_ identifier, the status and the fields that were sent', async () => {
    const { url, body } = await withMerchant();

    const reply = await postInvoice(url, body);

    expect(reply.status).toBe(201);
    expect(reply.json).toMatchObject({
      ...body,
      id: expect.stringMatching(/^inv_[0-9a-f]{24}$/) as unknown,
      status: 'processing',
    });
  });

  it('keeps decimals exactly as they were written', async () => {
    const { url } = await sandbox();
    const merchantId = await merchantIn(url);
    const exact = JSON.stringify(invoiceFor(merchantId)).replace('10.5', '12345678901234567890.123456789012345678');

    const created = await call(url, 'POST', '/v1/invoices', { body: exact });
    const read = await call(url, 'GET', `/v1/invoices/${String(created.json['id'])}`);

    expect(created.text).toContain('12345678901234567890.123456789012345678');
    expect(read.text).toContain('12345678901234567890.123456789012345678');
  });

  it('creates nothing when the body is refused', async () => {
    const { merchantId, ...box } = await withMerchant();

    const reply = await call(box.url, 'POST', '/v1/invoices', {
      body: { ...invoiceFor(merchantId), currency: 'euro' },
    });

    expect(reply.status).toBe(422);
    expect(errorOf(reply)).toEqual({
      code: 'field_invalid',
      message: 'currency: expected three capital letters.',
      field: 'currency',
    });
    expect(box.books().totals.invoices).toBe(0);
  });
});

describe('the engine', () => {
  it('issues an invoice after a while of processing', async () => {
    const { url } = await sandbox();
    const created = await postInvoice(url, invoiceFor(await merchantIn(url)));
    const path = `/v1/invoices/${String(created.json['id'])}`;

    await expect.poll(async () => (await call(url, 'GET', path)).json['status']).toBe('issued');

    const { json } = await call(url, 'GET', path);
    expect(json).toMatchObject({ id: created.json['id'], settled_at: expect.any(String) as unknown });
    expect(json).not.toHaveProperty('error');
  });

  it('fails an invoice with a line of tax code IVA_99 and names the line', async () => {
    const { url } = await sandbox();
    const body = invoiceFor(await merchantIn(url), { taxCode: 'IVA_99' });
    const created = await postInvoice(url, body);
    const path = `/v1/invoices/${String(created.json['id'])}`;

    await expect.poll(async () => (await call(url, 'GET', path)).json['status']).toBe('failed');

    expect(errorOf(await call(url, 'GET', path))).toEqual({
      code: 'tax_code_unknown',
      message: 'lines[0].tax_code: IVA_99 is not a tax code of this engine.',
    });
  });

  it('may take as long as it wants to answer', async () => {
    let answer: () => void = () => {};
    const asked = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const engine = {
      async process() {
        await asked;
        return { delayMs: 0, outcome: { status: 'failed' as const, code: 'nope', message: 'No.' } };
      },
    };
    const { url, books } = await sandbox({ engine });
    const reply = await postInvoice(url, invoiceFor(await merchantIn(url)));
    expect(reply.status).toBe(201);
    expect(books().totals.processing).toBe(1);

    answer();

    await expect.poll(() => books().invoices[0]?.errorCode).toBe('nope');
  });
});
