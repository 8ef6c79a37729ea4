import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { englishNote } from '../../../../src/report/texts/report-format.ts';
import { openPostgresLedger } from '../../../../src/ledger/open-postgres-ledger.ts';
import { type RegistrationDeps, WebhookRegistration } from '../../../../src/app/receiver/webhook-registration.ts';
import { postgresSchema, postgresUrl } from '../../../support/servers/postgres-database.ts';
import { until } from '../../../support/until.ts';
import { receiverOf, signatureOf } from '../../../unit/webhooks/receiver-fixture.ts';
import { temporaryLedger } from '../../../support/servers/temporary-database.ts';
import type { EndpointAnswer } from '../../../../src/domain/records/service-answers.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';

const BASE_URL = 'https://service.example';
const URL = 'http://127.0.0.1:9/webhooks';
const url = postgresUrl();

/** What the report says of it; null: nothing. */
function noteOf(registration: WebhookRegistration): string | null {
  const notes = registration.notes().map(englishNote);
  return notes.length === 0 ? null : notes.join(' ');
}

/** Resolves when somebody lets it. */
function barrier(): { readonly reached: Promise<void>; open(): void } {
  let open = (): void => undefined;
  return { reached: new Promise<void>((resolve) => (open = resolve)), open: () => open() };
}

interface Place {
  readonly application: string;
  readonly asked: () => number;
  /** A process of its own: registrations with the same ledger know nothing else of each other. */
  process(over?: Partial<RegistrationDeps>): WebhookRegistration;
}

describe('the registration of a webhook', () => {
  let ledger: Ledger;
  const ends: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    if (url === null) ledger = await temporaryLedger();
    else {
      const place = postgresSchema(url);
      ends.push(place.drop);
      ledger = await openPostgresLedger({ ...place });
    }
    ends.push(() => ledger.close());
  });
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  });

  /** A service that gives these answers in turn. */
  function placeWith(answer: (nth: number) => Promise<EndpointAnswer>): Place {
    const application = randomUUID();
    let asked = 0;
    const service = { baseUrl: BASE_URL, registerWebhook: () => answer((asked += 1)) };
    return {
      application,
      asked: () => asked,
      process: (over = {}) => new WebhookRegistration({ ...depsOf(application), service, ...over }),
    };
  }

  function depsOf(application: string): Omit<RegistrationDeps, 'service'> {
    return {
      ...{ ledger, application, url: URL, ownSecret: false },
      log: { warn: () => undefined },
      pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    };
  }

  const registered = (secret: string | null): Promise<EndpointAnswer> =>
    Promise.resolve({ kind: 'registered', secret });

  it('registers once per address and application, whoever asks and however often', async () => {
    const { process, asked, application } = placeWith(() => registered('s'));
    const [first, again] = [process(), process()];

    await Promise.all([first.ensure(), first.ensure()]);
    await first.ensure();
    await again.ensure();

    expect(asked()).toBe(1);
    expect([noteOf(first), noteOf(again)]).toEqual([null, null]);
    expect(await ledger.webhookSecrets(BASE_URL, application)).toEqual(['s']);
  });

  it('registers once when many processes start at the same time, and the others wait for it', async () => {
    const gate = barrier();
    const { process, asked } = placeWith(async (nth) => {
      await gate.reached;
      return registered(`s${nth}`);
    });
    let waiting = 0;
    const others = barrier();
    const pause = async (ms: number): Promise<void> => {
      waiting += 1;
      if (waiting === 4) others.open();
      await depsOf('').pause(ms);
    };
    const processes = Array.from({ length: 5 }, () => process({ pause }));

    const all = Promise.all(processes.map((one) => one.ensure()));
    await others.reached;
    gate.open();
    await all;

    expect(asked()).toBe(1);
    expect(processes.map((one) => noteOf(one))).toEqual([null, null, null, null, null]);
  });

  it('does not keep a batch waiting for ever for somebody who does not end', async () => {
    const gate = barrier();
    const { process, asked } = placeWith(async () => {
      await gate.reached;
      return registered('s');
    });
    const slow = process();
    const slowEnd = slow.ensure();
    await until(() => asked() === 1);
    const impatient = process({ pause: () => Promise.resolve() });

    await impatient.ensure();
    const note = noteOf(impatient);
    gate.open();
    await slowEnd;
    await impatient.ensure();

    expect(note).toContain('another process was registering the webhook');
    expect(asked()).toBe(1);
    expect([noteOf(slow), noteOf(impatient)]).toEqual([null, null]);
  });

  it('tries again after a refusal, and says meanwhile that asking settles', async () => {
    const { process, asked } = placeWith((nth) =>
      nth === 1 ? Promise.resolve({ kind: 'refused', reason: { code: 'http-422', message: 'no' } }) : registered('s'),
    );
    const first = process();

    await first.ensure();
    const note = noteOf(first);
    await process().ensure();
    await first.ensure();

    expect(note).toContain('the service did not register the webhook (http-422)');
    expect(asked()).toBe(2);
    expect(noteOf(first), 'nothing was created by what was refused').toBeNull();
  });

  it('tells of an answer that was lost: the service may have the address twice', async () => {
    const { process } = placeWith((nth) =>
      nth === 1 ? Promise.resolve({ kind: 'lost', reason: { code: 'reset', message: 'no answer' } }) : registered('s'),
    );
    const [first, next] = [process(), process()];

    await first.ensure();
    const note = noteOf(first);
    await next.ensure();

    expect(note).toContain('was lost (reset)');
    expect(noteOf(next)).toMatch(/^Alert: the webhook was registered once before without its answer being kept/);
  });

  it('keeps a secret that it could not write down, and does not ask for another', async () => {
    const { process, asked, application } = placeWith((nth) => registered(`s${nth}`));
    let away = true;
    const one = process({
      ledger: {
        ...ledger,
        saveEndpoint: (endpoint, now) =>
          away ? Promise.reject(new Error('the ledger is away')) : ledger.saveEndpoint(endpoint, now),
      },
    });

    await expect(one.ensure()).rejects.toThrow('the ledger is away');
    away = false;
    await one.ensure();

    expect(asked()).toBe(1);
    expect(noteOf(one)).toBeNull();
    expect(await ledger.webhookSecrets(BASE_URL, application)).toEqual(['s1']);
  });

  it('registers again after a crash between the POST and the ledger, and no secret that came is ever dropped', async () => {
    const gate = barrier();
    const asking = barrier();
    const { process, application } = placeWith(async (nth) => {
      if (nth > 1) return registered('the second');
      asking.open();
      await gate.reached;
      return registered('the first');
    });
    let claimant = '';
    const claimEndpoint: Ledger['claimEndpoint'] = (claimed, claim) => {
      ({ claimant } = claim);
      return ledger.claimEndpoint(claimed, claim);
    };
    const stalled = process({ ledger: { ...ledger, claimEndpoint } });
    const stalledEnd = stalled.ensure();
    await asking.reached;
    // As if nobody had kept the claim for its whole time.
    const place = { baseUrl: BASE_URL, application, url: URL };
    await ledger.keepEndpointClaim(place, { claimant, ttlMs: -1 });

    const next = process();
    await next.ensure();
    const note = noteOf(next);
    // It was not dead after all.
    gate.open();
    await stalledEnd;

    expect(note).toContain('registered once before without its answer being kept');
    const receiver = await receiverOf({ secrets: () => ledger.webhookSecrets(place.baseUrl, application) });
    for (const [secret, status] of [
      ['the first', 204],
      ['the second', 204],
      ['another', 401],
    ] as const) {
      const body = JSON.stringify({ id: `evt_${secret}`, type: 'invoice.issued', data: { id: 'inv_1' } });
      const headers = { 'X-Service-Signature': signatureOf(body, secret) };
      const answer = await fetch(receiver.url, { method: 'POST', body, headers });
      expect(answer.status, secret).toBe(status);
    }
  });

  it.each([
    ['neither side has a secret', false, /the service gave no secret .* every delivery was refused/],
    ['the configuration has one', true, /^$/],
  ])('alerts where deliveries are refused: %s', async (_title, ownSecret, note) => {
    const { process } = placeWith(() => registered(null));
    const [first, again] = [process({ ownSecret }), process({ ownSecret })];

    await first.ensure();
    await again.ensure();

    for (const one of [first, again]) expect(noteOf(one) ?? '').toMatch(note);
  });

  it.each<readonly [string, Partial<RegistrationDeps>, RegExp]>([
    ['without an address, and says so', { url: null }, /no WEBHOOK_URL is set/],
    ['where the profile says so, and says how answers come', { register: false }, /came by asking \(GET\) alone/],
    ['where the profile says so, and nothing with WEBHOOK_SECRET', { register: false, ownSecret: true }, /^$/],
  ])('registers nothing %s', async (_, over, note) => {
    const { process, asked } = placeWith(() => registered('s'));
    const one = process(over);

    await one.ensure();

    expect(asked()).toBe(0);
    expect(noteOf(one) ?? '').toMatch(note);
  });
});
