import { execFile } from 'node:child_process';
import { request } from 'node:http';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { compiledProcess } from '../../../support/compiled-process.ts';
import { OTHER_USER, whyNoNamespaces } from '../../../support/namespaces.ts';
import { startTestConsole } from '../../../unit/console/console-ledger.ts';

const run = promisify(execFile);
const WITHOUT_FILES = await compiledProcess(
  new URL('../../../support/console/console-without-files.ts', import.meta.url),
);
const TOKEN = 'a-long-random-token';
const whyNot = whyNoNamespaces();
if (whyNot !== null) console.warn(`peer account: tests with another account are left out; ${whyNot}`);

async function started(host: string): Promise<string> {
  const web = await startTestConsole({ host, token: TOKEN });
  onTestFinished(() => web.close());
  return web.url;
}

/** The status that a process of the account `nobody` gets. */
async function statusForOther(url: string, headers: Record<string, string> = {}): Promise<number> {
  const script = `fetch(${JSON.stringify(url)}, { headers: ${JSON.stringify(headers)}, redirect: 'manual' }).then(({ status }) => console.log(status))`;
  const [program = '', ...parameters] = OTHER_USER.wrap([process.execPath, '-e', script]);
  return Number((await run(program, parameters, { cwd: '/' })).stdout);
}

describe('a console on loopback', () => {
  it.each(['127.0.0.1', '::1'])('at %s is open to its own account', async (host) => {
    expect((await fetch(`${await started(host)}/api/batches`)).status).toBe(200);
  });

  it.skipIf(whyNot !== null).each(['127.0.0.1', '::1'])(
    'at %s shows nothing to another account without the token: it would be a way around file permissions',
    async (host) => {
      const url = await started(host);

      for (const path of ['/', '/api/batches', '/api/health', '/batches/x/files/report.json']) {
        expect(await statusForOther(url + path), path).toBe(401);
      }
      expect(await statusForOther(`${url}/health/live`)).toBe(200);
      expect(await statusForOther(`${url}/api/batches`, { 'x-lote-token': TOKEN })).toBe(200);
      expect(await statusForOther(`${url}/?token=${TOKEN}`)).toBe(303);
    },
  );

  it.skipIf(process.platform !== 'linux')(
    'takes a caller for another account while no file is left to see whose it is',
    async () => {
      const { stdout } = await run(process.execPath, [WITHOUT_FILES]);

      expect(JSON.parse(stdout)).toEqual([401, 200]);
    },
  );

  it.skipIf(process.platform !== 'linux')('takes a caller that has hung up for nobody', async () => {
    const url = new URL(await started('127.0.0.1'));
    const answered = new Promise<number>((resolve, reject) => {
      const asked = request({ host: url.hostname, port: url.port, path: '/api/batches' }, (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      });
      asked.on('error', reject).end();
    });
    expect(await answered).toBe(200);
    // A kernel that names account 0 for what was closed must not make it root's: nothing is answered, and nothing fails.
    const socket = connect({ host: url.hostname, port: Number(url.port) });
    await new Promise<void>((resolve) => socket.once('connect', resolve));
    socket.end('GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');
    await new Promise<void>((resolve) => socket.once('close', () => resolve()).resume());
    expect((await fetch(`${url.origin}/api/batches`)).status).toBe(200);
  });
});
