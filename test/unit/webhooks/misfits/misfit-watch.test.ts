import { createHmac } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DEFAULT_PROFILE } from '../../../../src/service-profile/default-profile.ts';
import type { NotedMisfit } from '../../../../src/domain/profile-misfit.ts';
import { createMisfitWatch, type MisfitWatch } from '../../../../src/webhooks/misfits/misfit-watch.ts';
import { createEventReader } from '../../../../src/webhooks/event-reader.ts';
import type { ReceiverShapes } from '../../../../src/webhooks/judge-delivery.ts';
import type { SignatureRefusal } from '../../../../src/webhooks/signature/refusal.ts';
import { createSignatureCheck } from '../../../../src/webhooks/signature/signature-check.ts';
import { until } from '../../../support/until.ts';
import { eventOf } from '../receiver-fixture.ts';
import { SHAPES } from '../receiver-shapes.ts';

const SECRET = 'whsec_of-the-tests';
const SECONDS = 1_700_000_000;

interface Watched {
  readonly watch: MisfitWatch;
  readonly noted: NotedMisfit[];
  readonly cleared: string[];
  /** Hands a delivery to check and reader, as the receiver does. */
  deliver(body: string, headers?: readonly string[], address?: string): SignatureRefusal | null;
  /** The next finding. */
  next(): Promise<NotedMisfit>;
}

function watched(
  over: Partial<ReceiverShapes> = {},
  known: readonly string[] = [],
  /** Called in each round that asks the ledger. */
  looking: () => void = () => undefined,
  everyMs = 20,
  now: () => number = Date.now,
): Watched {
  const shapes = { ...SHAPES, ...over };
  const [noted, cleared]: [NotedMisfit[], string[]] = [[], []];
  const url = (): string => 'http://127.0.0.1/webhooks';
  const watch = createMisfitWatch({
    book: {
      note: async (items) => void noted.push(...items),
      clear: async (code) => void cleared.push(code),
      async knownIds(ids) {
        looking();
        return ids.filter((id) => known.includes(id)).length;
      },
    },
    ...{ shapes, url, secrets: async () => [SECRET], now, firstMs: 20, everyMs },
  });
  onTestFinished(() => watch.close());
  const check = createSignatureCheck({ shape: shapes.signature, url, log: { warn: () => undefined } });
  const read = createEventReader(shapes);
  return {
    ...{ watch, noted, cleared },
    deliver(body, headers = [], address = '10.0.0.1') {
      const raw = Buffer.from(body);
      const { why } = check.verify({ rawHeaders: headers, now: SECONDS * 1_000 }, [SECRET], raw);
      if (why === null) {
        const rows = read({ raw, rawHeaders: headers, receivedAt: 0 });
        if (!(rows instanceof Promise)) watch.fitted(rows);
      } else {
        watch.claim(address)?.({ why, headers, body: raw });
        watch.refused(why);
      }
      return why;
    },
    async next() {
      const before = noted.length;
      await until(async () => noted.length > before);
      return noted[noted.length - 1] as NotedMisfit;
    },
  };
}

/** As the service signs, whatever the profile says. */
function signed(body: string): readonly string[] {
  const signature = createHmac('sha256', SECRET).update(`${SECONDS}.${body}`).digest('base64');
  return ['X-Time', String(SECONDS), 'X-Signature', signature];
}

function right(body: string): readonly string[] {
  return ['X-Service-Signature', createHmac('sha256', SECRET).update(body).digest('hex')];
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('deliveries that are all refused', () => {
  it('tell what the secret fits, and what to write into the profile; counted once each', async () => {
    const { deliver, next } = watched();
    for (let n = 0; n < 12; n += 1) expect(deliver(eventOf(n), signed(eventOf(n)))).toBe('signature-missing');

    const first = await next();
    deliver(eventOf(12), signed(eventOf(12)));
    const second = await next();

    expect(first).toMatchObject({ code: 'deliveries-refused', times: 12 });
    expect(first.message).toBe(
      '12 of 12 deliveries refused: X-Signature holds base64; the secret fits {timestamp}.{body}. Set in the service profile: "signature": {"header":"X-Signature","encoding":"base64","signed":"{timestamp}.{body}","timestamp":"header:X-Time"}.',
    );
    expect(second.times).toBe(1);
    expect(second.message).toMatch(/^13 of 13 /);
  });

  it('name no scheme that fits a wrong secret; ids of invoices prove that the service sent them', async () => {
    const { deliver, next } = watched({}, ['inv_1', 'inv_2']);
    const headers = ['X-Other-Signature', createHmac('sha256', 'another').update('x').digest('base64')];
    for (let n = 1; n < 4; n += 1) deliver(eventOf(n), headers);

    expect(await next()).toMatchObject({
      code: 'deliveries-refused',
      message:
        '3 of 3 deliveries refused: none has the header X-Service-Signature; X-Other-Signature holds base64 of the length of sha256. Look at signature.header of the service profile.',
    });
  });

  it('that prove nothing at first are looked at again long before the next minute', async () => {
    let looks = 0;
    const looking = (): void => void (looks += 1);
    const known = ['inv_1', 'inv_2', 'inv_3', 'inv_4'];
    const { deliver, next, noted } = watched({}, known.slice(2), looking, 3_600_000);
    for (const n of [1, 2]) deliver(eventOf(n), ['X-Other-Signature', 'AAAA']);
    await until(() => looks > 0);
    for (const n of [3, 4]) deliver(eventOf(n), ['X-Other-Signature', 'AAAA']);

    expect((await next()).code).toBe('deliveries-refused');
    expect(noted).toHaveLength(1);
  });

  it('are looked at again as soon although others came on the days before, one a day', async () => {
    let looks = 0;
    let days = 0;
    const looking = (): void => void (looks += 1);
    const now = (): number => Date.now() + days * 86_400_000;
    const { deliver, next } = watched({}, ['inv_3', 'inv_4'], looking, 3_600_000, now);
    const refused = (n: number) => deliver(eventOf(n), ['X-Other-Signature', 'AAAA']);
    for (; days < 7; days += 1) {
      refused(9);
      await pause(60);
    }
    looks = 0;
    for (const n of [1, 2]) refused(n);
    await until(() => looks > 0);
    const began = performance.now();
    for (const n of [3, 4]) refused(n);

    await next();
    // One round more, of 20 to 40 ms. After seven rounds in vain in a row it would be five seconds.
    expect(performance.now() - began).toBeLessThan(3_000);
  });

  it('are told with doubt, and without a word of the sender, where nothing proves that the service sent them', async () => {
    const { deliver, next, noted } = watched();
    for (let n = 0; n < 9; n += 1) deliver('{"id":"inv_77777"}', ['X-Evil-Signature', 'call 555']);
    await pause(100);
    expect(noted).toEqual([]);
    deliver('{}');

    const { code, message } = await next();
    expect(code).toBe('deliveries-unproven');
    expect(message).toMatch(
      /^10 of 10 deliveries refused: none has the header X-Service-Signature\. .* is not known\.$/,
    );
    expect(message).not.toMatch(/Evil|555|77777/);
  });

  it('that come while the others are looked at are told, though none follows them', async () => {
    let looks = 0;
    let tenth = (): void => undefined;
    const { deliver, next, noted } = watched({}, [], () => {
      looks += 1;
      if (looks === 1) tenth();
    });
    tenth = () => void deliver(eventOf(10), ['X-Evil-Signature', 'call 555']);
    for (let n = 1; n <= 9; n += 1) deliver(eventOf(n), ['X-Evil-Signature', 'call 555']);

    const { code, message } = await next();

    expect(noted).toHaveLength(1);
    expect(code).toBe('deliveries-unproven');
    expect(message).toContain('10 of 10 deliveries refused');
  });

  it('say nothing while others fit, and are cleared by one that fits', async () => {
    const { deliver, noted, cleared, next } = watched();
    for (let n = 0; n < 3; n += 1) deliver(eventOf(n), signed(eventOf(n)));
    await next();
    deliver(eventOf(1), right(eventOf(1)));
    for (let n = 0; n < 50; n += 1) deliver('x', ['X-Scanner', '1']);
    await until(async () => cleared.includes('deliveries-refused') && cleared.includes('deliveries-unproven'));

    expect(noted).toHaveLength(1);
  });

  it('of a flood do not hide those of the service', async () => {
    const { deliver, next } = watched();
    for (let n = 0; n < 5_000; n += 1) deliver(`flood ${n}`, ['X-Evil-Signature', 'AAAA'], `10.1.${n % 2}.1`);
    for (let n = 0; n < 3; n += 1) deliver(eventOf(n), signed(eventOf(n)), '192.0.2.7');
    for (let n = 0; n < 5_000; n += 1) deliver(`flood ${n}`, ['X-Evil-Signature', 'AAAA'], `10.1.${n % 2}.1`);

    expect((await next()).message).toContain('X-Signature holds base64; the secret fits {timestamp}.{body}');
  });

  it('of a copied delivery that fits the profile tell nothing of the profile', async () => {
    const old = { signature: { ...SHAPES.signature, signed: '{timestamp}.{body}', timestamp: 'header:X-Time' } };
    const { deliver, noted } = watched(old, ['inv_1', 'inv_2']);
    const time = String(SECONDS - 3_600);
    for (const n of [1, 2]) {
      const signature = createHmac('sha256', SECRET)
        .update(`${time}.${eventOf(n)}`)
        .digest('hex');
      expect(deliver(eventOf(n), ['X-Time', time, 'X-Service-Signature', signature])).toBe(
        'timestamp-outside-tolerance',
      );
    }
    await pause(100);

    expect(noted).toEqual([]);
  });
});

describe('deliveries that fit and say nothing', () => {
  it('tell where type and id stand', async () => {
    const { deliver, next } = watched({ event: { ...DEFAULT_PROFILE.event, type: '/event', invoiceId: '/id' } });
    for (let n = 0; n < 3; n += 1) deliver(eventOf(n), right(eventOf(n)));

    expect(await next()).toMatchObject({
      code: 'events-unreadable',
      times: 3,
      message:
        '3 of 3 deliveries have a right signature, and none can be read: no type at /event (event.type) or no id at /id (event.invoiceId); a type that the profile knows stands at /type, an inv_ id stands at /data/id. Correct the service profile; final answers come by asking (GET) meanwhile.',
    });
  });

  it('tell the types that the profile does not know, masked, until one says something final', async () => {
    const { deliver, next, cleared } = watched({ event: { ...DEFAULT_PROFILE.event, issued: ['done'] } });
    const types = ['invoice.issued', 'Ana Silva', 'nif.123456789', 'invoice.issued', 'invoice.issued'];
    for (const [n, type] of types.entries()) deliver(eventOf(n, type), right(eventOf(n, type)));

    const { code, message } = await next();
    expect(code).toBe('events-unknown');
    expect(message).toContain(
      'Events of type "invoice.issued", (a text of 9 characters), (a text of 13 characters) mean nothing to the profile: 5 of 5',
    );
    deliver(eventOf(9, 'done'), right(eventOf(9, 'done')));
    await until(async () => cleared.includes('events-unknown'));
  });
});
