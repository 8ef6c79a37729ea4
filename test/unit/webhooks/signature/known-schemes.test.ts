import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import type { SignatureShape } from '../../../../src/webhooks/signature-check.ts';
import { checked, type Checked } from './check-of.ts';

const BODY = '{"id":"evt_1","type":"invoice.issued","data":{"id":"inv_1"}}';
const SECONDS = 1_700_000_000;
const NOW = SECONDS * 1_000;
const PAST = 301_000;

function why(given: Checked): string | null {
  return checked({ raw: BODY, now: NOW, ...given });
}

describe('Standard Webhooks', () => {
  const shape: Partial<SignatureShape> = {
    header: 'webhook-signature',
    encoding: 'base64',
    prefix: 'v1,',
    separator: ' ',
    signed: '{header:webhook-id}.{timestamp}.{body}',
    timestamp: 'header:webhook-timestamp',
    secret: { prefix: 'whsec_', encoding: 'base64' },
  };
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const id = ['webhook-id', 'msg_1'] as const;
  const time = ['webhook-timestamp', String(SECONDS)] as const;
  const signature = new Webhook(secret).sign('msg_1', new Date(NOW), BODY);
  const good: Checked = { shape, secrets: [secret], lines: [signature], headers: [id, time] };

  it('signed by its own library holds', () => {
    expect(why(good)).toBeNull();
  });

  it('with several signatures holds when any fits, whichever line it stands in', () => {
    const other = new Webhook('whsec_AAAA').sign('msg_1', new Date(NOW), BODY);

    expect(why({ ...good, lines: [`${other} v1a,xyz ${signature}`] })).toBeNull();
    expect(why({ ...good, lines: [other, signature] })).toBeNull();
    expect(why({ ...good, lines: [`${other} ${other}`] })).toBe('signature-wrong');
  });

  it.each([
    ['another body', { raw: `${BODY} ` }, 'signature-wrong'],
    ['another id', { headers: [['webhook-id', 'msg_2'], time] }, 'signature-wrong'],
    ['another time', { headers: [id, ['webhook-timestamp', String(SECONDS + 1)]] }, 'signature-wrong'],
    ['no id', { headers: [time] }, 'signed-header-missing'],
    ['two ids', { headers: [id, id, time] }, 'signed-header-missing'],
    ['no time', { headers: [id] }, 'timestamp-unreadable'],
    ['two times', { headers: [id, time, time] }, 'timestamp-unreadable'],
    ['a time that is none', { headers: [id, ['webhook-timestamp', 'now']] }, 'timestamp-unreadable'],
    ['a repeat after five minutes', { now: NOW + PAST }, 'timestamp-outside-tolerance'],
    ['a time five minutes ahead', { now: NOW - PAST }, 'timestamp-outside-tolerance'],
    ['a secret that is not base64', { secrets: ['whsec_?'] }, 'no-secret'],
    ['another version', { lines: [signature.replace('v1,', 'v2,')] }, 'signature-malformed'],
  ] as const)('with %s is refused', (_name, change, reason) => {
    expect(why({ ...good, ...change })).toBe(reason);
  });

  it('holds at the edge of the tolerance in both directions', () => {
    expect([NOW - 300_000, NOW + 300_000].map((now) => why({ ...good, now }))).toEqual([null, null]);
  });
});

/** Signatures below were worked out by `openssl dgst -hmac`, none by this code. */
describe('a header of parts as Stripe writes it', () => {
  const shape: Partial<SignatureShape> = {
    header: 'Stripe-Signature',
    prefix: 'v1=',
    separator: ',',
    signed: '{timestamp}.{body}',
    timestamp: 'part:t=',
  };
  const v1 = 'v1=6696eed82f7fa8cde82d0a7348de1a36e904383c266f7368b76719687e589e47';
  const v0 = 'v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39';
  const good: Checked = { shape, secrets: ['whsec_stripe'], lines: [`t=${SECONDS},${v1},${v0}`] };

  it.each([
    ['as documented', [`t=${SECONDS},${v1},${v0}`]],
    ['in another order, with white space', [`${v0} , ${v1}, t=${SECONDS}`]],
    ['with a signature of another secret before it', [`t=${SECONDS},v1=${'0'.repeat(64)},${v1}`]],
    ['in several lines', [`t=${SECONDS}`, v1]],
  ])('holds %s', (_name, lines) => {
    expect(why({ ...good, lines })).toBeNull();
  });

  it.each([
    ['only a signature of another version', [`t=${SECONDS},${v1.replace('v1', 'v0')}`], 'signature-malformed'],
    ['no time', [v1], 'timestamp-unreadable'],
    ['two times', [`t=${SECONDS},t=${SECONDS + 1},${v1}`], 'timestamp-unreadable'],
    ['another time', [`t=${SECONDS + 1},${v1}`], 'signature-wrong'],
    ['the time written otherwise', [`t=0${SECONDS},${v1}`], 'signature-wrong'],
    ['nothing but separators', [',,,'], 'signature-malformed'],
    ['no header', [], 'signature-missing'],
    ['the right one after sixteen others', [`t=${SECONDS},${'v1=00,'.repeat(16)}${v1}`], 'signature-malformed'],
    ['more than 4 kB', [`t=${SECONDS},${v1},${'x'.repeat(4_096)}`], 'signature-malformed'],
  ])('with %s is refused', (_name, lines, reason) => {
    expect(why({ ...good, lines })).toBe(reason);
  });
});

describe('other known schemes', () => {
  it("GitHub's published example holds", () => {
    const lines = ['sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17'];
    const secrets = ["It's a Secret to Everybody"];

    expect(why({ shape: { prefix: 'sha256=' }, secrets, lines, raw: 'Hello, World!' })).toBeNull();
  });

  it.each(['2dpV2FWkwJdN99IjpbTCdgditARkrbJEAMwZdCTMIDk=', '2dpV2FWkwJdN99IjpbTCdgditARkrbJEAMwZdCTMIDk'])(
    'base64 of the body as Shopify writes it holds, with padding and without: %s',
    (line) => {
      expect(why({ shape: { encoding: 'base64' }, secrets: ['shpss_1'], lines: [line] })).toBeNull();
    },
  );

  it('base64url holds, and is none of base64', () => {
    const lines = [Buffer.from(`${'ff'.repeat(31)}fe`, 'hex').toString('base64url')];

    expect(why({ shape: { encoding: 'base64url' }, secrets: ['s'], lines })).toBe('signature-wrong');
    expect(why({ shape: { encoding: 'base64' }, secrets: ['s'], lines })).toBe('signature-malformed');
  });

  it('a version and a time before the body as Slack signs them hold', () => {
    const shape = { prefix: 'v0=', signed: 'v0:{timestamp}:{body}', timestamp: 'header:X-Slack-Request-Timestamp' };
    const lines = ['v0=d73998971c014f1c1c2d8196ad49ab46c897f6dec46c810a88b827a56e95617d'];
    const headers = [['x-slack-request-timestamp', String(SECONDS)]] as const;

    expect(why({ shape, secrets: ['slack-secret'], lines, headers })).toBeNull();
  });

  describe('the registered address before the body, as Twilio signs it,', () => {
    const shape: Partial<SignatureShape> = { algorithm: 'sha1', encoding: 'base64', signed: '{url}{body}' };
    const given: Checked = { shape, secrets: ['twilio-token'], lines: ['4nYryvFq90ZEZRVrzG9VCa7Ia1s='] };

    it('holds', () => {
      expect(why(given)).toBeNull();
    });

    it('is refused under another address', () => {
      expect(why({ ...given, url: 'https://lote.example/hook' })).toBe('signature-wrong');
    });
  });
});
