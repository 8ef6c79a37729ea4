import { createHash, createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { headerLines, judgeDelivery } from '../../../src/webhooks/judge-delivery.ts';
import { SHAPES } from './receiver-fixture.ts';

const SECRET = 'whsec_1';

function request(text: string, secret = SECRET) {
  const raw = Buffer.from(text);
  return {
    raw,
    headerValues: [createHmac('sha256', secret).update(raw).digest('hex')],
    secrets: [SECRET],
    shapes: SHAPES,
    now: 1_700,
  };
}

describe('receive', () => {
  it('gives the ledger the bytes, their hash and what they say', () => {
    const signed = request('{"id":"evt_1","type":"invoice.issued","data":{"id":"inv_1"}} ');

    const verdict = judgeDelivery(signed);

    expect(verdict).toMatchObject({
      kind: 'record',
      delivery: {
        sha256: createHash('sha256').update(signed.raw).digest('hex'),
        receivedAt: 1_700,
        event: { serviceId: 'inv_1', verdict: 'issued' },
      },
    });
    expect(verdict.kind === 'record' && Buffer.from(verdict.delivery.raw).equals(signed.raw)).toBe(true);
  });

  it('records correctly signed bytes that cannot be read', () => {
    expect(judgeDelivery(request('not json'))).toMatchObject({ kind: 'record', delivery: { event: null } });
  });

  it('records an empty body that is correctly signed', () => {
    expect(judgeDelivery(request(''))).toMatchObject({ kind: 'record', delivery: { event: null } });
  });

  it('reads nothing that is not signed', () => {
    expect(judgeDelivery(request('{"type":"invoice.issued"}', 'other'))).toEqual({
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
