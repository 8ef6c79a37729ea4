import { describe, expect, it } from 'vitest';
import { DEFAULT_PROFILE } from '../../../src/service/profile/default-profile.ts';
import type { ServiceProfile } from '../../../src/service/profile/profile.ts';
import { isReadFromUnsignedHeaders } from '../../../src/webhooks/event-reader.ts';

function isRead(
  event: Partial<ServiceProfile['event']>,
  signature: Partial<ServiceProfile['signature']> = {},
): boolean {
  return isReadFromUnsignedHeaders({
    event: { ...DEFAULT_PROFILE.event, ...event },
    signature: { ...DEFAULT_PROFILE.signature, ...signature },
  });
}

describe('events that are read from unsigned headers', () => {
  it.each([
    ['the type', { type: 'header:X-Topic' }],
    ['the type at one of two places', { type: ['/type', 'header:X-Topic'] }],
    ['the id of the invoice', { invoiceId: 'header:X-Invoice' }],
    ['the event inside', { payload: { at: 'header:X-Event', encoding: 'base64' as const } }],
    ['the list of events', { items: 'jsonata:$headers.events' }],
    ['an expression that may read any header', { type: 'jsonata:$headers."x-topic"' }],
  ])('are those of which %s stands there', (_what, event) => {
    expect(isRead(event)).toBe(true);
  });

  it('are not those that the body has, whatever names and explains them', () => {
    expect(isRead({ eventId: 'header:X-Delivery', reasonCode: 'header:X-Reason' })).toBe(false);
    expect(isRead({})).toBe(false);
  });

  it('are not those of headers that are signed', () => {
    const event = { type: 'header:X-Topic' };

    expect(isRead(event, { signed: '{header:x-topic}.{body}' })).toBe(false);
    expect(isRead(event, { signed: '{timestamp}.{body}', timestamp: 'header:X-Topic' })).toBe(false);
    expect(isRead(event, { signed: '{header:x-other}.{body}', timestamp: 'header:X-Topic' })).toBe(true);
  });
});
