import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { access, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { SECRET_VARIABLES } from '../../../../src/runtime/config/env-secret-files.ts';
import { processStartTime } from '../../../../src/runtime/process/process-start-time.ts';
import { acquireTemporalBinary } from '../../../../src/runtime/temporal/temporal-binary.ts';
import { startTemporalServer, type TemporalServer } from '../../../../src/runtime/temporal/temporal-server.ts';
import { compiledProcess } from '../../../support/compiled-process.ts';
import { smallDisk } from '../../../support/crash/small-disk.ts';
import { PID_NAMESPACE, whyNoNamespaces } from '../../../support/namespaces.ts';
import { until } from '../../../support/until.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';

const binary = await acquireTemporalBinary((line) => console.error(line), process.env);

const SERVER_PROCESS = await compiledProcess(new URL('../temporal-server-process.ts', import.meta.url));
const NO_FILES_PROCESS = await compiledProcess(new URL('../no-files-process.ts', import.meta.url));

interface ServerRecord {
  readonly pid: number;
  readonly startTime: string;
  readonly port: number;
  readonly uiPort: number;
}

async function started(dataDir: string): Promise<TemporalServer> {
  const server = await startTemporalServer({ binary, dataDir, namespace: 'default', port: 0, uiPort: 0 });
  onTestFinished(() => server.stop());
  return server;
}

async function recordOf(dataDir: string): Promise<ServerRecord> {
  return JSON.parse(await readFile(join(dataDir, 'temporal.json'), 'utf8')) as ServerRecord;
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
  let sharedDir: string;
  /** What it wished for, and another program has. */
  let takenPort: number;

  beforeAll(async () => {
    const taken = createServer();
    taken.listen(0, '127.0.0.1');
    await once(taken, 'listening');
    takenPort = (taken.address() as AddressInfo).port;
    sharedDir = await mkdtemp(join(tmpdir(), 'lote-temporal-'));
    for (const name of SECRET_VARIABLES) vi.stubEnv(name, `secret-of-${name}`);
    const wish = { binary, dataDir: sharedDir, namespace: 'default', port: takenPort, uiPort: 0 };
    shared = await startTemporalServer(wish).finally(() => {
      vi.unstubAllEnvs();
      taken.close();
    });
  });

  afterAll(async () => {
    await shared.stop();
    await rm(sharedDir, { recursive: true, force: true });
  });

  it('answers at its address, serves its UI, and has the search attributes registered', async () => {
    const attributes = await withClient(shared.address, (client) =>
      client.connection.operatorService.listSearchAttributes({ namespace: 'default' }),
    );
    const ui = await fetch(shared.ui);

    expect(shared.adopted).toBe(false);
    expect(Object.keys(attributes.customAttributes)).toEqual(
      expect.arrayContaining(['LoteBatch', 'LoteState', 'LoteProblems']),
    );
    expect(ui.status).toBe(200);
  });

  it.skipIf(process.platform !== 'linux')('has nothing secret in its environment', async () => {
    const environment = await readFile(`/proc/${(await recordOf(sharedDir)).pid}/environ`, 'utf8');

    expect(environment).toContain('PATH=');
    expect(environment).not.toMatch(/secret-of-|LOTE_|INVOICING_|DATABASE_URL/);
  });

  it('takes the next free port when the one wished for is taken', () => {
    expect(shared.address).not.toBe(`127.0.0.1:${takenPort}`);
  });

  it('adopts the server that a parent killed with SIGKILL left behind, with its runs; ends it too, and takes its record away', async () => {
    const dataDir = await temporaryDirectory();
    const parent = spawn(process.execPath, [SERVER_PROCESS, dataDir], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void parent.kill('SIGKILL'));
    const [bytes] = (await once(parent.stdout, 'data')) as [Buffer];
    const address = bytes.toString().trim();
    await startWorkflow(address, 'left-behind');
    const exit = once(parent, 'exit');
    parent.kill('SIGKILL');
    await exit;

    const server = await started(dataDir);

    expect(server.adopted).toBe(true);
    expect(server.address).toBe(address);
    expect(await statusOf(server.address, 'left-behind')).toBe('RUNNING');
    const { pid, startTime } = await recordOf(dataDir);
    expect(await processStartTime(pid)).toBe(startTime);
    await server.stop();
    expect(await processStartTime(pid)).not.toBe(startTime);
    await expect(access(join(dataDir, 'temporal.json'))).rejects.toThrow('ENOENT');
  });

  it.skipIf(whyNoNamespaces() !== null)(
    'is refused from another process namespace while a server has the file: its pid means nothing there',
    async () => {
      await startWorkflow(shared.address, 'untouched');
      const [program = '', ...parameters] = PID_NAMESPACE.wrap([process.execPath, SERVER_PROCESS, sharedDir]);
      const other = spawn(program, parameters, { stdio: ['ignore', 'pipe', 'inherit'] });
      onTestFinished(() => void other.kill('SIGKILL'));
      const [bytes] = (await once(other.stdout, 'data')) as [Buffer];

      expect(bytes.toString()).toContain('a server that an earlier process started still has');
      expect(await statusOf(shared.address, 'untouched')).toBe('RUNNING');
    },
  );

  it('keeps its runs in the data directory when the server itself is killed, and gives its port free when it is stopped', async () => {
    const dataDir = await temporaryDirectory();
    const first = await started(dataDir);
    await startWorkflow(first.address, 'survivor');

    process.kill((await recordOf(dataDir)).pid, 'SIGKILL');
    await first.stop();
    const port = Number(first.address.split(':')[1]);
    const second = await startTemporalServer({ binary, dataDir, namespace: 'default', port, uiPort: 0 });
    onTestFinished(() => second.stop());

    expect(second.adopted).toBe(false);
    expect(second.address).toBe(first.address);
    expect(await statusOf(second.address, 'survivor')).toBe('RUNNING');
  });

  it('never adopts by port alone: a record of another process is ignored, and that process lives on', async () => {
    const own = await temporaryDirectory();
    const record = await recordOf(sharedDir);
    await writeFile(join(own, 'temporal.json'), JSON.stringify({ ...record, startTime: 'earlier' }));

    const server = await started(own);

    expect(server.adopted).toBe(false);
    expect(server.address).not.toBe(shared.address);
    await server.stop();
    expect(await processStartTime(record.pid)).toBe(record.startTime);
  });

  it.each(['', '{"pid":', '{"pid":"1"}'])('starts afresh when the record holds %j', async (content) => {
    const dataDir = await temporaryDirectory();
    await writeFile(join(dataDir, 'temporal.json'), content);
    const program = join(dataDir, 'notes-its-start');
    await writeFile(program, `#!/bin/sh\necho "$@" >> '${dataDir}/starts'\n`, { mode: 0o755 });

    const start = startTemporalServer({ binary: program, dataDir, namespace: 'default', port: 0, uiPort: 0 });

    await expect(start).rejects.toMatchObject({ code: 'temporal-unavailable' });
    expect(await readFile(join(dataDir, 'starts'), 'utf8')).toContain('server start-dev');
  });

  it('comes back to its port though another Lote starts a server there meanwhile', async () => {
    const [own, other] = [await temporaryDirectory(), await temporaryDirectory()];
    const server = await started(own);
    const { pid, port } = await recordOf(own);
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => server.alive()).toBe(false);

    const second = await startTemporalServer({ binary, dataDir: other, namespace: 'default', port, uiPort: 0 });
    onTestFinished(() => second.stop());

    expect(second.address).not.toBe(server.address);
    expect(await server.restart()).toBe(true);
  });

  it('does not take the server of another program for its own, that took the port before it could listen', async () => {
    const dataDir = await temporaryDirectory();
    const slow = join(dataDir, 'slow-temporal');
    // Its first start waits until the other program has been first.
    const waits = `mkdir '${dataDir}/waited' 2>/dev/null && while [ ! -e '${dataDir}/taken' ]; do sleep 0.1; done`;
    await writeFile(slow, `#!/bin/sh\n${waits}\nexec '${binary}' "$@"\n`, { mode: 0o755 });
    const start = startTemporalServer({ binary: slow, dataDir, namespace: 'default', port: 0, uiPort: 0 });
    onTestFinished(async () => (await start).stop());
    await until(() => succeeds(recordOf(dataDir)));
    const { port } = await recordOf(dataDir);

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
    expect(await server.alive()).toBe(true);
    expect(await statusOf(server.address, 'unknown').catch(String)).toContain('not found');
  });

  it.skipIf(process.platform !== 'linux')('lives for a process that may open no further file', async () => {
    const dataDir = await temporaryDirectory();
    const { stdout } = await promisify(execFile)(process.execPath, [NO_FILES_PROCESS, dataDir]);

    expect(stdout).toBe('alive: true, with no file to open: true\n');
  });

  it('leaves nothing of a start that fails on a full disk, and comes up again when there is room', async () => {
    const disk = await smallDisk(16);
    if (disk === null) return;
    onTestFinished(() => disk.remove());
    const server = await started(disk.path);
    const { pid } = await recordOf(disk.path);
    process.kill(pid, 'SIGKILL');
    // Its threads hold files for a moment longer than it lives, and give their room back.
    await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);

    disk.fill();
    await expect(server.restart()).rejects.toThrow('ENOSPC');
    disk.empty();

    expect(await server.restart()).toBe(true);
  });

  it('does not come up without its program, and ends no process by that', async () => {
    const dataDir = await temporaryDirectory();
    const gone = { binary: join(dataDir, 'gone'), dataDir, namespace: 'default', port: 0, uiPort: 0 };

    await expect(startTemporalServer(gone)).rejects.toMatchObject({ code: 'temporal-unavailable' });
  });

  it('says where the log is when the server does not come up', async () => {
    const dataDir = await temporaryDirectory();

    const start = startTemporalServer({ binary: '/bin/false', dataDir, namespace: 'default', port: 0, uiPort: 0 });

    await expect(start).rejects.toMatchObject({
      code: 'temporal-unavailable',
      message: expect.stringContaining(join(dataDir, 'temporal.log')) as string,
    });
  });
});
