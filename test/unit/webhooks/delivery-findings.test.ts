import { describe, expect, it } from 'vitest';
import { DEFAULT_PROFILE } from '../../../src/service/profile/profile.ts';
import { createDeliveryFindings } from '../../../src/webhooks/delivery-findings.ts';
import type { RecordDelivery } from '../../../src/ledger/webhooks/deliveries.ts';

const { signature, event } = DEFAULT_PROFILE;
const BASE = { sha256: 'x', raw: new Uint8Array(), receivedAt: 0 };

function place() {
  const noted: (readonly [string, string | null])[] = [];
  const clock = { now: 10_000 };
  const findings = createDeliveryFindings({
    shapes: { signature, event, idPrefix: 'inv_' },
    now: () => clock.now,
    note: (code, message) => Promise.resolve(void noted.push([code, message])),
  });
  return { noted, clock, findings };
}

function eventOf(type: string, verdict: 'issued' | null): RecordDelivery {
  return { ...BASE, event: { type, eventId: 'e', serviceId: 'inv_1', verdict, reason: null } };
}

describe('deliveries that say nothing', () => {
  it('are told with the setting that does not fit, and again after two seconds', () => {
    const { noted, clock, findings } = place();

    findings.refused('signature-missing');
    findings.refused('signature-wrong');
    clock.now += 2_000;
    findings.refused('signature-wrong');

    expect(noted.map(([code]) => code)).toEqual(['deliveries-refused', 'deliveries-refused']);
    expect(noted[0]?.[1]).toContain('none has the header X-Service-Signature (signature.header)');
    expect(noted[1]?.[1]).toMatch(/^3 of 3 deliveries refused: the secret does not fit/);
  });

  it('are over as soon as one fits', () => {
    const { noted, findings } = place();

    findings.refused('signature-wrong');
    findings.fitted([eventOf('invoice.issued', 'issued')]);
    findings.fitted([eventOf('invoice.issued', 'issued')]);

    expect(noted.map(([code, message]) => [code, message === null])).toEqual([
      ['deliveries-refused', false],
      ['deliveries-refused', true],
    ]);
  });

  it('are told when they cannot be read', () => {
    const { noted, findings } = place();

    findings.fitted([{ ...BASE, event: null }]);

    expect(noted).toEqual([['events-unreadable', expect.stringContaining('no type at /type (event.type)') as string]]);
  });

  it('are told when five are of types that the profile does not know, and not when they say something final', () => {
    const { noted, findings } = place();

    findings.fitted(Array.from({ length: 5 }, () => eventOf('invoice.done', 'issued')));
    findings.fitted(Array.from({ length: 4 }, () => eventOf('invoice.done', null)));
    expect(noted).toEqual([]);
    findings.fitted([eventOf('João Silva 123456', null)]);

    expect(noted.map(([code]) => code)).toEqual(['events-unknown']);
    expect(noted[0]?.[1]).toContain('Events of type "invoice.done", (a text of 17 characters) mean nothing');
  });
});
