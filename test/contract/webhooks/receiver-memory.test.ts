import { fork } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { deliver, eventOf, rawConnection, signatureOf } from '../../unit/webhooks/receiver-fixture.ts';

const CONNECTIONS = 200;

const MIB = 1024 * 1024;

/** What each oversize sender pushes: read to their end, all of them together would be 800 MiB. */
const PUSHED_BYTES = 4 * MIB;

/** 32 MiB of bodies are allowed at a time; the rest is what the garbage collector has not seen yet (45 MB in all measured). */
const FLAT_BYTES = 150 * MIB;

interface Measured {
  readonly url: string;
  readonly rss: number;
}

/** A receiver in a process of its own; each call asks it how much memory it has. */
async function receiverProcess(): Promise<() => Promise<Measured>> {
  const child = fork(new URL('receiver-process.ts', import.meta.url), { execArgv: ['--import', 'tsx'] });
  onTestFinished(() => {
    child.disconnect();
  });
  await once(child, 'message');
  return async () => {
    const answer = once(child, 'message');
    child.send('measure');
    const [measured] = (await answer) as [Measured];
    return measured;
  };
}

describe('the receiver', () => {
  it('keeps its memory flat under 200 slow and 200 oversize connections, and serves real deliveries', async () => {
    const measure = await receiverProcess();
    const { url } = await measure();
    const port = Number(new URL(url).port);
    await deliver(url, eventOf(0));
    const before = await measure();
    const head = `POST /webhooks HTTP/1.1\r\nHost: lote\r\nX-Service-Signature: ${signatureOf('')}\r\n`;

    for (let n = 0; n < CONNECTIONS; n += 1) {
      const slow = await rawConnection(port);
      slow.socket.write(`${head}Content-Length: 250000\r\n\r\n${'x'.repeat(1_000)}`);
    }
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`.repeat(PUSHED_BYTES / 0x10000);
    const answers = await Promise.all(
      Array.from({ length: CONNECTIONS }, async () => {
        const oversize = await rawConnection(port);
        oversize.socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n${chunk}`);
        return (await oversize.closed).slice(0, 12);
      }),
    );
    const real = await deliver(url, eventOf(1));
    const after = await measure();

    expect(real.status).toBe(204);
    // A sender that is still writing when the receiver hangs up may see a reset in place of the answer.
    const ends = new Set(['', 'HTTP/1.1 413', 'HTTP/1.1 503']);
    expect(answers.filter((start) => !ends.has(start))).toEqual([]);
    expect(after.rss - before.rss).toBeLessThan(FLAT_BYTES);
  });
});
