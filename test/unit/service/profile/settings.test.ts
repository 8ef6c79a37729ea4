import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { DEFAULT_PROFILE } from '../../../../src/service/profile/profile.ts';
import { keyPaths, profileJsonSchema, schemaText, settingsOf } from '../../../../src/service/profile/json-schema.ts';
import { loadProfile } from '../../../../src/service/profile/check-profile.ts';
import { pageText } from '../../../support/lote/readme.ts';

const schema = z.fromJSONSchema(profileJsonSchema() as Parameters<typeof z.fromJSONSchema>[0]);
const accepts = (value: unknown): boolean => schema.safeParse(value).success;

describe('the JSON Schema of a service profile', () => {
  it('is published as docs/service-profile.schema.json, which `npm run profile:schema` writes', () => {
    expect(JSON.parse(pageText('docs/service-profile.schema.json'))).toEqual(profileJsonSchema());
  });

  it('is printed as JSON', () => {
    expect(JSON.parse(schemaText())).toEqual(profileJsonSchema());
  });

  it('takes the default profile', () => {
    expect(accepts(DEFAULT_PROFILE)).toBe(true);
  });

  it.each<object>([
    {},
    { $schema: './service-profile.schema.json' },
    { limits: {} },
    { limits: { maxConcurrency: 3 } },
    { signature: { secret: { prefix: 'whsec_' } } },
    { requests: { createInvoice: { body: { data: [{ $each: 'lines' }] } } } },
    { answers: { success: { at: '/ok', is: ['true'] }, rules: [{ means: 'lost', status: [409] }] } },
    { event: { type: ['/a', 'header:X'], items: null } },
  ])('takes %j, which leaves out the rest', (profile) => {
    expect(accepts(profile)).toBe(true);
  });

  it.each<object>([
    { limit: {} },
    { limits: { maxConcurrency: 'many' } },
    { limits: null },
    { signature: { algorithm: 'md5' } },
    { answers: { success: { at: '/ok' } } },
    { answers: { rules: [{ status: [409] }] } },
    { event: { type: [] } },
  ])('refuses %j', (profile) => {
    expect(accepts(profile)).toBe(false);
  });

  it('gives each setting its default', () => {
    const paths = keyPaths(profileJsonSchema());

    expect(paths.get('signature.header')).toMatchObject({ default: 'X-Service-Signature' });
    expect(paths.get('merchants.pageSize')).toMatchObject({ default: null });
    expect(paths.get('invoice.issued')).toMatchObject({ default: ['issued'] });
  });
});

const differences = (profile: object) =>
  settingsOf(loadProfile(JSON.stringify(profile)))
    .filter(({ differs }) => differs)
    .map(({ key, value, default: byDefault }) => ({ key, value, default: byDefault }));

describe('the differences of a profile from the default', () => {
  it('are none for what the default says too', () => {
    expect(differences({ limits: { maxConcurrency: 64 }, invoice: { issued: ['issued'] } })).toEqual([]);
  });

  it('are one for each setting', () => {
    expect(
      differences({ signature: { prefix: 'sha256=', secret: { prefix: 'whsec_' } }, event: { items: '/events' } }),
    ).toEqual([
      { key: 'signature.prefix', value: 'sha256=', default: '' },
      { key: 'signature.secret.prefix', value: 'whsec_', default: '' },
      { key: 'event.items', value: '/events', default: null },
    ]);
  });

  it('do not show texts of headers, and of bodies only the placeholders', () => {
    const [headers, body] = differences({
      requests: {
        headers: { 'X-Key': 'abc' },
        createMerchant: { body: { name: '{legal_name}', nif: '{nif}', key: 'abc', n: [1] } },
      },
    });

    expect(headers?.value).toEqual({ 'X-Key': '(not shown)' });
    expect(body?.value).toEqual({ name: '{legal_name}', nif: '{nif}', key: '(not shown)', n: [1] });
  });
});
