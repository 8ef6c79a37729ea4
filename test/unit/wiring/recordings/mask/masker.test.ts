import { describe, expect, it } from 'vitest';
import { loadProfile } from '../../../../../src/service-profile/load-profile.ts';
import { createMasker } from '../../../../../src/wiring/recordings/mask/masker.ts';

const NIF = '501964843';
const PROFILE = loadProfile(undefined);

interface Given {
  readonly body: unknown;
  readonly sent?: unknown;
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly profile?: string;
}

/** The answer as it is recorded, with the request. */
async function recorded({ body, sent, path = '/v1/invoices', method = 'POST', headers = {}, profile }: Given) {
  const masker = createMasker({ profile: loadProfile(profile), key: Buffer.alloc(32, 1), secrets: ['sk_test_4711'] });
  const answer = {
    kind: 'answer',
    status: 200,
    retryAfterMs: null,
    headers,
    body: { kind: 'json', value: body },
  } as const;
  const request = { method, path, body: sent === undefined ? null : JSON.stringify(sent) };
  const record = await masker.exchange({ at: 0, base: 'https://api.example', ...request, answer });
  const shown = record.answer.body;
  return { record, value: shown.kind === 'json' ? (shown.value as Record<string, unknown>) : {} };
}

describe('a recorded answer', () => {
  it('keeps ids, statuses, codes, types, amounts and times', async () => {
    const body = {
      id: 'inv_42Ab',
      object: 'invoice',
      status: 'FATURADA',
      phase: 'na_fila',
      error: { code: 'tax_code_unknown', message: 'The tax code is unknown' },
      total: '12.50',
      count: 3,
      created_at: '2026-05-01T10:00:00Z',
      has_more: false,
      type: 'https://errors.example/tax-number-blocked',
    };

    expect((await recorded({ body })).value).toMatchObject({
      ...body,
      type: expect.stringContaining('https://errors.example/') as string,
    });
  });

  it('replaces names, tax numbers and e-mail addresses by others of the same form', async () => {
    const body = { customer: { name: 'João da Silva', email: 'joao@silva.pt', tax_id: `PT${NIF}` } };
    const { name, email, tax_id } = (await recorded({ body })).value['customer'] as Record<string, string>;

    expect(name).toMatch(/^[A-Z][a-z]{3} [a-z]{2} [A-Z][a-z]{4}$/);
    expect(email).toMatch(/^[a-z]{4}@[a-z]{5}\.[a-z]{2}$/);
    expect(tax_id).toMatch(/^PT[1-9]\d{8}$/);
    expect(JSON.stringify([name, email, tax_id])).not.toMatch(/Silva|joao|501964843/i);
  });

  it('gives a tax number the same other number wherever it stands', async () => {
    const body = {
      nif: NIF,
      data: [{ nif: Number(NIF) }, { message: `The number ${NIF} is invalid` }],
      link: `https://api.example/v1/merchants?nif=${NIF}`,
      [NIF]: true,
    };
    const text = JSON.stringify((await recorded({ body, method: 'GET', path: '/v1/merchants' })).value);
    const other = /"nif":"(\d{9})"/.exec(text)?.[1] ?? 'none';

    expect(text).not.toContain(NIF);
    expect(text.split(other), text).toHaveLength(6);
  });

  it('replaces what the request said, wherever and in whatever case the answer quotes it', async () => {
    const sent = { buyer: 'Padaria Sintrense', items: [{ label: 'Broa' }] };
    const body = { note: 'PADARIA SINTRENSE', x: 'broa', message: 'The customer padaria sintrense ordered Broa' };

    expect(JSON.stringify((await recorded({ body, sent })).record)).not.toMatch(/padaria|sintrense|broa/i);
  });

  it('replaces a word of which nothing is known, since it may be a name', async () => {
    expect((await recorded({ body: { x: 'Sintrense', y: 'Sintrense', z: 'pending' } })).value).toMatchObject({
      x: expect.not.stringContaining('Sintrense') as string,
      z: 'pending',
    });
  });

  it('masks JSON inside a text and inside base64', async () => {
    const inner = JSON.stringify({ name: 'Sintrense', nif: NIF, status: 'issued' });
    const { value } = await recorded({ body: { payload: inner, data: Buffer.from(inner).toString('base64') } });
    const opened = [String(value['payload']), Buffer.from(String(value['data']), 'base64').toString()];

    expect(opened[0]).toBe(opened[1]);
    expect(JSON.parse(opened[0] ?? '')).toMatchObject({
      status: 'issued',
      nif: expect.stringMatching(/^\d{9}$/) as string,
    });
    expect(opened.join()).not.toMatch(/Sintrense|501964843/);
  });

  it('keeps no secret: not the key, not that of a registration, and not in an address', async () => {
    const secret = 'whsec_c2VjcmV0IG9mIGEgc2VydmljZQ';
    const { record } = await recorded({
      path: '/v1/webhooks',
      sent: { url: `https://lote:${secret}@hooks.example/webhooks/${secret}` },
      body: { id: 'we_1', material: secret, again: `is ${secret}`, key: 'sk_test_4711', enabled: 'enabled' },
      headers: { 'set-cookie': `session=${secret}`, 'x-echo': 'Bearer sk_test_4711' },
    });

    expect(JSON.stringify(record)).not.toMatch(/c2VjcmV0|sk_test_4711/);
    expect(record.answer.body).toMatchObject({ value: { enabled: 'enabled' } });
  });

  it('stays masked when a wrong profile takes a name for a status, an id or a code', async () => {
    const profile = JSON.stringify({
      invoice: { id: '/customer/name', idPrefix: '', status: '/customer/legal_name' },
      error: { code: '/customer/city' },
    });

    expect(
      JSON.stringify(
        (
          await recorded({
            profile,
            body: { customer: { name: 'Sintrense', legal_name: 'Sintrense', city: 'Sintrense' } },
          })
        ).record,
      ),
    ).not.toContain('Sintrense');
  });
});

describe('a recorded delivery', () => {
  it('shows the form of its signature, and neither signature nor secret', async () => {
    const masker = createMasker({ profile: PROFILE, secrets: [] });
    const signature = 'a1b2c3d4e5f60718293a4b5c6d7e8f90';
    const { headers, body } = await masker.delivery({
      at: 0,
      rawHeaders: ['X-Service-Signature', `t=1767225600,v1=${signature}`, 'Authorization', 'Basic bG90ZTpzZWNyZXQ='],
      raw: Buffer.from(
        JSON.stringify({ id: 'evt_1', type: 'invoice.issued', data: { id: 'inv_1', name: 'Sintrense' } }),
      ),
      signature: { scheme: PROFILE.signature, refusal: null },
    });

    expect(headers[1]).toMatch(/^t=[a-z]{10},v1=[a-z]{32}$/);
    expect(headers[3]).toMatch(/^Basic /);
    expect(JSON.stringify(headers)).not.toMatch(/a1b2c3|1767225600|bG90/);
    expect(body).toMatchObject({ value: { id: 'evt_1', type: 'invoice.issued', data: { id: 'inv_1' } } });
    expect(JSON.stringify(body)).not.toContain('Sintrense');
  });
});
