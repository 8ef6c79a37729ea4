import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_PROFILE } from '../../../src/service/profile.ts';
import { readEvent } from '../../../src/webhooks/event.ts';
import { headerLines, judgeDelivery } from '../../../src/webhooks/judge-delivery.ts';
import { verifyHeader, verifySignature } from '../../../src/webhooks/signature.ts';
import type { SignatureShape } from '../../../src/webhooks/signature.ts';
import { anyText } from '../../support/any-text.ts';

const bytes = fc.uint8Array({ maxLength: 300 });
const secret = anyText({ minLength: 1, maxLength: 40 });
const shape: fc.Arbitrary<SignatureShape> = fc.record({
  header: fc.constant('X-Service-Signature'),
  algorithm: fc.constantFrom('sha1', 'sha256', 'sha384', 'sha512'),
  encoding: fc.constantFrom('hex', 'base64'),
  prefix: fc.constantFrom('', 'sha256=', 'v1,'),
});

function sign(raw: Uint8Array, key: string, { algorithm, encoding, prefix }: SignatureShape): string {
  return prefix + createHmac(algorithm, key).update(raw).digest(encoding);
}

const event = DEFAULT_PROFILE.event;

describe('a signature', () => {
  it('holds for exactly the bytes, the secret and the shape that made it', () => {
    fc.assert(
      fc.property(bytes, secret, shape, fc.nat(), (raw, key, how, place) => {
        const headerValues = [sign(raw, key, how)];
        const other = Uint8Array.from(raw.length === 0 ? [0] : raw);
        if (raw.length > 0) other[place % raw.length] = (other[place % raw.length] ?? 0) ^ 1;

        expect(verifySignature({ raw, headerValues, secrets: ['old', key], shape: how }).ok).toBe(true);
        expect(verifySignature({ raw: other, headerValues, secrets: [key], shape: how })).toEqual({
          ok: false,
          why: 'signature-wrong',
        });
        expect(verifySignature({ raw, headerValues, secrets: [`${key}x`], shape: how }).ok).toBe(false);
      }),
    );
  });

  it('never holds for a header that somebody made up, and never throws over one', () => {
    fc.assert(
      fc.property(
        bytes,
        secret,
        shape,
        fc.array(fc.string({ maxLength: 300 }), { maxLength: 3 }),
        (raw, key, how, lines) => {
          expect(verifySignature({ raw, headerValues: lines, secrets: [key], shape: how }).ok).toBe(false);
        },
      ),
    );
  });

  it('is refused before the body is read whenever no body could make it right', () => {
    fc.assert(
      fc.property(
        bytes,
        secret,
        shape,
        fc.array(fc.string({ maxLength: 200 }), { maxLength: 2 }),
        (raw, key, how, lines) => {
          const early = verifyHeader({ headerValues: lines, secrets: [key], shape: how });
          const late = verifySignature({ raw, headerValues: lines, secrets: [key], shape: how });

          if (!early.ok) expect(late).toEqual(early);
          expect(verifyHeader({ headerValues: [sign(raw, key, how)], secrets: [key], shape: how }).ok).toBe(true);
        },
      ),
    );
  });
});

describe('an event', () => {
  it('is read from any bytes without an error, and is final only of an invoice that it names', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          bytes,
          fc.json().map((text) => Buffer.from(text)),
        ),
        (raw) => {
          const read = readEvent(raw, event);

          if (read !== null && read.verdict !== null) expect(read.serviceId).toMatch(/^inv_/u);
        },
      ),
    );
  });

  it('says issued or failed of the invoice that stands in it, whatever stands beside', () => {
    const word = fc.stringMatching(/^[A-Za-z0-9_-]{1,60}$/);
    fc.assert(
      fc.property(
        word,
        fc.constantFrom('issued', 'failed'),
        fc.jsonValue(),
        anyText(),
        (id, verdict, beside, message) => {
          const body = {
            type: `invoice.${verdict}`,
            data: { id: `inv_${id}`, error: { code: 'x', message }, beside },
            beside,
          };

          const read = readEvent(Buffer.from(JSON.stringify(body)), event);

          expect(read).toMatchObject({ serviceId: `inv_${id}`, verdict });
          expect(read?.reason?.message ?? '').not.toMatch(/[\p{Cc}\p{Cs}]/u);
          expect(Array.from(read?.reason?.message ?? '').length).toBeLessThanOrEqual(200);
        },
      ),
    );
  });

  it('of signed bytes that nobody can read is recorded all the same: it is an alarm, not nothing', () => {
    fc.assert(
      fc.property(bytes, secret, (raw, key) => {
        const signature = DEFAULT_PROFILE.signature;
        const headerValues = [sign(raw, key, signature)];

        const verdict = judgeDelivery({ raw, headerValues, secrets: [key], shapes: { signature, event }, now: 5 });

        expect(verdict).toMatchObject({ kind: 'record', delivery: { receivedAt: 5, event: null } });
      }),
    );
  });
});

describe('headerLines', () => {
  it('gives each line of the header and no other, whatever stands in the values', () => {
    const line = fc.tuple(
      fc.constantFrom('X-Sig', 'x-sig', 'X-SIG', 'Other', 'Value'),
      fc.constantFrom('X-Sig', 'a', ''),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
        expect(headerLines(lines.flat(), 'x-Sig')).toEqual(
          lines.filter(([name]) => name.toLowerCase() === 'x-sig').map(([, value]) => value),
        );
      }),
    );
  });
});
