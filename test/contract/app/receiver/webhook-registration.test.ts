import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { englishNote } from '../../../../src/report/texts/report-format.ts';
import { openPostgresLedger } from '../../../../src/ledger/open-postgres-ledger.ts';
import {
  createWebhookRegistration,
  type RegistrationDeps,
  type WebhookRegistration,
} from '../../../../src/app/receiver/webhook-registration.ts';
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

/** Resolves when a test opens it. */
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
      process: (over = {}) => createWebhookRegistration({ ...depsOf(application), service, ...over }),
    };
  }

  function depsOf(application: string): Omit<RegistrationDeps, 'service'> {
    return {
      ...{ ledger, application, url: URL, ownSecret: false, register: true },
      log: { warn: () => undefined },
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
    const release = barrier();
    const { process, asked } = placeWith((nth) => release.reached.then(() => registered(`s${nth}`)));
    const processes = Array.from({ length: 5 }, () => process());

    const all = processes.map((one) => one.ensure());
    expect(await Promise.race([...all, sleep(300, 'waits')])).toBe('waits');
    release.open();
    await Promise.all(all);

    expect(asked()).toBe(1);
    expect(processes.map((one) => noteOf(one))).toEqual([null, null, null, null, null]);
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

  it('tells of an answer that was lost, and the next batch registers the address again', async () => {
    const { process, asked } = placeWith((nth) =>
      nth === 1 ? Promise.resolve({ kind: 'lost', reason: { code: 'reset', message: 'no answer' } }) : registered('s'),
    );
    const [first, next] = [process(), process()];

    await first.ensure();
    await next.ensure();

    expect(noteOf(first)).toContain('was lost (reset)');
    expect([noteOf(next), asked()]).toEqual([null, 2]);
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

  it('keeps every secret that came: a process that stalled may register, too', async () => {
    const release = barrier();
    const { process, asked, application } = placeWith((nth) =>
      nth > 1 ? registered('the second') : release.reached.then(() => registered('the first')),
    );
    const stalled = process().ensure();
    await until(() => asked() === 1);
    const place = { baseUrl: BASE_URL, application, url: URL };
    // Its claim has expired.
    await ledger.releaseEndpoint(place);
    await process().ensure();
    release.open();
    await stalled;

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
