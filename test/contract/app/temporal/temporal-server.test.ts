import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { SECRET_VARIABLES } from '../../../../src/app/config/environment.ts';
import { acquireTemporalBinary } from '../../../../src/app/temporal/temporal-binary.ts';
import {
  startTemporalServer,
  superviseTemporal,
  type TemporalServer,
  type TemporalServerOptions,
} from '../../../../src/app/temporal/temporal-server.ts';
import { compiledProcess } from '../../../support/compiled-process.ts';
import { smallDisk } from '../../../support/crash/small-disk.ts';
import { PID_NAMESPACE, whyNoNamespaces, temporalProcess } from '../../../support/namespaces.ts';
import { until } from '../../../support/until.ts';
import { sharedDirectory, temporaryDirectory } from '../../../support/files/temporary-directory.ts';

const binary = await acquireTemporalBinary((line) => console.error(line), process.env);

const SERVER_PROCESS = await compiledProcess(new URL('../temporal-server-process.ts', import.meta.url));

const wishAt = (dataDir: string) => ({ binary, dataDir, namespace: 'default', port: 0, uiPort: 0 });

async function started(dataDir: string, wish: Partial<TemporalServerOptions> = {}): Promise<TemporalServer> {
  const server = await startTemporalServer({ ...wishAt(dataDir), ...wish });
  onTestFinished(() => server.stop());
  return server;
}

/** A process that starts a server, with what it says of that. */
async function parentOfServer(directory?: string, wrap = (command: string[]): readonly string[] => command) {
  const dataDir = directory ?? (await temporaryDirectory());
  const [program = '', ...parameters] = wrap([process.execPath, SERVER_PROCESS, dataDir]);
  const parent = spawn(program, parameters, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void parent.kill('SIGKILL'));
  const [bytes] = (await once(parent.stdout, 'data')) as [Buffer];
  return { dataDir, parent, said: bytes.toString() };
}

const SOME_QUESTIONS_MS = 1_500;

function succeeds(asked: Promise<unknown>): Promise<boolean> {
  return asked.then(
    () => true,
    () => false,
  );
}

async function withClient<T>(address: string, use: (client: Client) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address });
  try {
    return await use(new Client({ connection }));
  } finally {
    await connection.close();
  }
}

function startWorkflow(address: string, workflowId: string): Promise<unknown> {
  return withClient(address, (client) => client.workflow.start('anything', { taskQueue: 'nobody', workflowId }));
}

function statusOf(address: string, workflowId: string): Promise<string> {
  return withClient(address, async (client) => (await client.workflow.getHandle(workflowId).describe()).status.name);
}

describe('startTemporalServer', () => {
  /** For the tests that leave it as it is: each start takes half a second of computing. */
  let shared: TemporalServer;
  const sharedDir = sharedDirectory();
  /** What it wished for, and another program has. */
  let takenPort: number;

  beforeAll(async () => {
    const taken = createServer();
    taken.listen(0, '127.0.0.1');
    await once(taken, 'listening');
    takenPort = (taken.address() as AddressInfo).port;
    for (const name of SECRET_VARIABLES) vi.stubEnv(name, `secret-of-${name}`);
    shared = await startTemporalServer({ ...wishAt(sharedDir()), port: takenPort }).finally(() => {
      vi.unstubAllEnvs();
      taken.close();
    });
  });

  afterAll(() => shared.stop());

  it('answers at its address, serves its UI, and has the search attributes registered', async () => {
    const { customAttributes } = await withClient(shared.address, (client) =>
      client.connection.operatorService.listSearchAttributes({ namespace: 'default' }),
    );

    expect(customAttributes).toMatchObject({ LoteBatch: 2, LoteState: 2, LoteProblems: 3 });
    expect((await fetch(shared.ui)).status).toBe(200);
  });

  it.skipIf(process.platform !== 'linux')('has nothing secret in its environment', async () => {
    const environment = await readFile(`/proc/${await temporalProcess(sharedDir())}/environ`, 'utf8');

    expect(environment).toContain('PATH=');
    expect(environment).not.toMatch(/secret-of-|LOTE_|INVOICING_|DATABASE_URL/);
  });

  it('takes the next free port when the one wished for is taken', () => {
    expect(shared.address).not.toBe(`127.0.0.1:${takenPort}`);
  });

  it('ends with a parent that is killed with SIGKILL, and its runs are there for the next start', async () => {
    const { dataDir, parent, said } = await parentOfServer();
    await startWorkflow(said.trim(), 'left-behind');
    const pid = await temporalProcess(dataDir);

    parent.kill('SIGKILL');

    await until(async () => (await temporalProcess(dataDir)) === null);
    expect(pid).not.toBeNull();
    const server = await started(dataDir);
    expect(await statusOf(server.address, 'left-behind')).toBe('RUNNING');
  });

  it('ends with its parent when it does not hear: stopped by SIGSTOP', async () => {
    const { dataDir, parent } = await parentOfServer();
    process.kill(Number(await temporalProcess(dataDir)), 'SIGSTOP');

    parent.kill('SIGKILL');

    await until(async () => (await temporalProcess(dataDir)) === null);
  });

  it.skipIf(whyNoNamespaces() !== null)(
    'is refused from another process namespace while a server has the file: its pid means nothing there',
    async () => {
      await startWorkflow(shared.address, 'untouched');
      const { said } = await parentOfServer(sharedDir(), (command) => PID_NAMESPACE.wrap(command));

      expect(said).toContain('a server that an earlier process started still has');
      expect(await statusOf(shared.address, 'untouched')).toBe('RUNNING');
    },
  );

  it('does not take the server of another program for its own, that took the port before it could listen', async () => {
    const dataDir = await temporaryDirectory();
    const slow = join(dataDir, 'slow-temporal');
    // Its first start waits until the other program has been first.
    const waits = `mkdir '${dataDir}/waited' 2>/dev/null && echo $6 > '${dataDir}/port' && while [ ! -e '${dataDir}/taken' ]; do sleep 0.1; done`;
    await writeFile(slow, `#!/bin/sh\n${waits}\nexec '${binary}' "$@"\n`, { mode: 0o755 });
    const start = started(dataDir, { binary: slow });
    await until(() => succeeds(readFile(join(dataDir, 'port'))));
    const port = Number(await readFile(join(dataDir, 'port'), 'utf8'));

    const stranger = spawn(binary, ['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port), '--headless'], {
      stdio: 'ignore',
    });
    onTestFinished(() => void stranger.kill('SIGKILL'));
    await until(() => succeeds(withClient(`127.0.0.1:${port}`, () => Promise.resolve())));
    // The start asks ten times a second whether its server answers.
    await sleep(SOME_QUESTIONS_MS);
    await writeFile(join(dataDir, 'taken'), '');
    const server = await start;

    expect(server.address).not.toBe(`127.0.0.1:${port}`);
    expect(await statusOf(server.address, 'unknown').catch(String)).toContain('not found');
  });

  it('leaves nothing of a start that fails on a full disk, and comes up again when there is room', async () => {
    const disk = await smallDisk(16);
    if (disk === null) return;
    onTestFinished(() => disk.remove());
    const server = await started(disk.path);
    const pid = await temporalProcess(disk.path);
    server.kill();
    // Its threads hold files for a moment longer than it lives, and give their room back.
    await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);

    disk.fill();
    expect(await server.restart().catch(String)).not.toBe(true);
    disk.empty();

    expect(await server.restart()).toBe(true);
  });

  it.each([
    ['without its program, and ends no process by that', (dataDir: string) => join(dataDir, 'gone')],
    ['where its program ends at once', () => '/bin/false'],
  ])('does not come up %s, and says where the log is', async (_, binaryIn) => {
    const dataDir = await temporaryDirectory();

    await expect(startTemporalServer({ ...wishAt(dataDir), binary: binaryIn(dataDir) })).rejects.toMatchObject({
      code: 'temporal-unavailable',
      message: expect.stringContaining(join(dataDir, 'temporal.log')) as string,
    });
  });
});

/** A log whose lines can be awaited. */
function log() {
  const lines: string[] = [];
  return {
    lines,
    warn: (message: string): void => void lines.push(message),
    until: (text: string) => until(async () => lines.some((line) => line.includes(text))),
  };
}

describe('a supervised Temporal server', () => {
  it('is started again on its port with its runs when it is killed, and not when it is stopped', async () => {
    const dataDir = await temporaryDirectory();
    const server = await started(dataDir);
    const said = log();
    const release = superviseTemporal(server, said, () => undefined);
    onTestFinished(release);
    await startWorkflow(server.address, 'survivor');
    const killed = await temporalProcess(dataDir);

    process.kill(Number(killed), 'SIGKILL');
    await said.until('is up again');

    expect(await statusOf(server.address, 'survivor')).toBe('RUNNING');
    const restarted = await temporalProcess(dataDir);
    expect(restarted).not.toBe(killed);
    await release();
    await server.stop();
    expect(await temporalProcess(dataDir)).toBeNull();
  });

  it.concurrent.each([
    ['does not come up', async () => false],
    ['comes up and ends at once', async () => true],
    ['cannot be started, as on a full disk', () => Promise.reject(new Error('ENOSPC'))],
  ])(
    'is given up after five restarts in a row when it %s, with an error that says where to look',
    async (_, restart) => {
      const said = log();
      const server = { ended: () => Promise.resolve(), restart };

      const lost = await new Promise((resolve) => superviseTemporal(server, said, resolve));

      expect(lost).toMatchObject({
        code: 'temporal-unavailable',
        message: expect.stringContaining('temporal.log') as string,
      });
      expect(said.lines.filter((line) => line.includes('starting it again'))).toHaveLength(5);
    },
  );
});
