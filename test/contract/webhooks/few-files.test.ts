import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { deliver, eventOf } from '../../unit/webhooks/receiver-fixture.ts';

/** The fewest with which Lote starts. */
const FILES = 512;
const STRANGERS = 700;

interface Said {
  readonly url: string;
  readonly port: number;
  readonly opened: boolean;
}

describe.runIf(process.platform === 'linux')('the receiver of a process that may open few files', () => {
  it('leaves files to the rest of the process, however many connect', async () => {
    const child = fork(new URL('few-files-process.ts', import.meta.url), { execArgv: ['--import', 'tsx'] });
    onTestFinished(() => void (child.connected && child.disconnect()));
    // It listens only after this.
    execFileSync('prlimit', ['--pid', String(child.pid), `--nofile=${FILES}`]);
    await once(child, 'message');
    const ask = async (): Promise<Said> => {
      const answer = once(child, 'message');
      child.send('say');
      const [said] = (await answer) as [Said];
      return said;
    };
    const { url, port } = await ask();

    const strangers = await Promise.all(Array.from({ length: STRANGERS }, () => stranger(port)));
    const { opened } = await ask();
    strangers.forEach((leave) => leave());

    expect(opened).toBe(true);
    expect((await deliverWhenThereIsRoom(url)).status).toBe(204);
  });
});

/** Connects, and says nothing. Returns what ends it. */
async function stranger(port: number): Promise<() => void> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
  return () => void socket.destroy();
}

/** The end of a connection reaches the receiver some moments later. */
async function deliverWhenThereIsRoom(url: string): Promise<Response> {
  for (let tries = 0; ; tries += 1) {
    const answer = await deliver(url, eventOf(1)).catch(() => null);
    if (answer !== null) return answer;
    if (tries === 100) throw new Error('The receiver takes no delivery');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
