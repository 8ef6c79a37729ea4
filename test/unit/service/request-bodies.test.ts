import { describe, expect, it } from 'vitest';
import { merchantBody, webhookBody } from '../../../src/service/request-bodies.ts';

const MERCHANT = { nif: '501964843', legalName: 'Loja, Lda', email: 'loja@example.org' };
const ALL = { vat: '{nif}', name: '{legal_name}', mail: '{email}' };

describe('the body that creates a merchant', () => {
  it.each([
    ['as published', MERCHANT, null, '{"legal_name":"Loja, Lda","nif":"501964843","email":"loja@example.org"}'],
    ['by a template', MERCHANT, ALL, '{"vat":"501964843","name":"Loja, Lda","mail":"loja@example.org"}'],
    ['by a template, without an address', { ...MERCHANT, email: '' }, ALL, '{"vat":"501964843","name":"Loja, Lda"}'],
  ])('%s', (_name, merchant, template, body) => {
    expect(merchantBody(merchant, template)).toBe(body);
  });
});

describe('the body that registers the receiver', () => {
  it.each([
    ['as published', null, '{"url":"https://a.example","events":["invoice.issued","invoice.failed"]}'],
    [
      'by a template',
      { target: '{url}', on: '{events}' },
      '{"target":"https://a.example","on":["invoice.issued","invoice.failed"]}',
    ],
  ])('%s asks for both events', (_name, template, body) => {
    expect(webhookBody('https://a.example', template)).toBe(body);
  });
});
