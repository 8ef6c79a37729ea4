import { createHash, createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createEventReader } from '../../../src/webhooks/event-reader.ts';
import { headerLines } from '../../../src/webhooks/header-lines.ts';
import { judgeDelivery } from '../../../src/webhooks/judge-delivery.ts';
import { createSignatureCheck } from '../../../src/webhooks/signature/signature-check.ts';
import { SHAPES } from './receiver-fixture.ts';

const SECRET = 'whsec_1';

const BY = {
  check: createSignatureCheck({ shape: SHAPES.signature, url: () => null, log: { warn: () => undefined } }),
  read: createEventReader(SHAPES),
};

function request(text: string, secret = SECRET) {
  const raw = Buffer.from(text);
  return {
    raw,
    head: {
      rawHeaders: ['X-Service-Signature', createHmac('sha256', secret).update(raw).digest('hex')],
      now: 1_700,
    },
    secrets: [SECRET],
  };
}

describe('receive', () => {
  it('gives the ledger the bytes, their hash and what they say', () => {
    const signed = request('{"id":"evt_1","type":"invoice.issued","data":{"id":"inv_1"}} ');

    const verdict = judgeDelivery(signed, BY);

    expect(verdict).toMatchObject({
      kind: 'record',
      deliveries: [
        {
          sha256: createHash('sha256').update(signed.raw).digest('hex'),
          receivedAt: 1_700,
          raw: signed.raw,
          event: { serviceId: 'inv_1', verdict: 'issued' },
        },
      ],
    });
  });

  it('records correctly signed bytes that cannot be read', () => {
    expect(judgeDelivery(request('not json'), BY)).toMatchObject({ kind: 'record', deliveries: [{ event: null }] });
  });

  it('records an empty body that is correctly signed', () => {
    expect(judgeDelivery(request(''), BY)).toMatchObject({ kind: 'record', deliveries: [{ event: null }] });
  });

  it('reads nothing that is not signed', () => {
    expect(judgeDelivery(request('{"type":"invoice.issued"}', 'other'), BY)).toEqual({
      kind: 'refuse',
      why: 'signature-wrong',
    });
  });
});

describe('headerLines', () => {
  it('finds each line of a header, whatever its letters', () => {
    const raw = ['Host', 'x-service-signature', 'X-Service-Signature', 'a', 'x-SERVICE-signature', 'b', 'Other', 'c'];

    expect(headerLines(raw, 'X-Service-Signature')).toEqual(['a', 'b']);
  });

  it('finds none where there is none', () => {
    expect(headerLines(['Host', 'a'], 'X-Service-Signature')).toEqual([]);
  });
});
