import { chmod, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadProfile } from '../../../../src/service-profile/load-profile.ts';
import { openCaptureFolder } from '../../../../src/wiring/recordings/capture-folder.ts';
import { createCapture, type Capture, type CaptureLimits } from '../../../../src/wiring/recordings/capture.ts';
import { createMasker } from '../../../../src/wiring/recordings/mask/masker.ts';

const PROFILE = loadProfile(undefined);
const EXCHANGE = {
  ...{ at: 0, method: 'POST', base: 'https://api.example', path: '/v1/invoices', body: null },
  answer: { kind: 'answer', status: 200, retryAfterMs: null, body: { kind: 'json', value: { id: 'inv_1' } } },
} as const;

let place: string;
let folder: string;
let log: string[];

beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'lote-capture-'));
  folder = join(place, 'capture');
  log = [];
});

afterEach(() => rm(place, { recursive: true, force: true }));

function captureInto(path: string, limits: Partial<CaptureLimits> = {}): Capture {
  const warn = (message: string, fields?: Record<string, unknown>): void =>
    void log.push(`${message} ${JSON.stringify(fields)}`);
  const masker = createMasker({ profile: PROFILE, secrets: [] });
  return createCapture({ folder: path, masker, scheme: PROFILE.signature, log: { warn }, limits });
}

describe('a capture', () => {
  it('stops at its bound with one line of the log, also over processes', async () => {
    await openCaptureFolder(folder, []);
    const first = captureInto(folder, { records: 5 });
    for (let count = 0; count < 3; count += 1) first.exchange(EXCHANGE);
    await first.close();
    const second = captureInto(folder, { records: 5 });
    for (let count = 0; count < 6; count += 1) second.exchange(EXCHANGE);
    await second.close();

    expect(await readdir(folder)).toHaveLength(5);
    expect(log).toEqual([expect.stringContaining('"why":"it is full","records":5')]);
  });

  it('keeps the bytes of its folder below their bound', async () => {
    await openCaptureFolder(folder, []);
    const capture = captureInto(folder, { bytes: 1_000 });
    for (let count = 0; count < 9; count += 1) capture.exchange(EXCHANGE);
    await capture.close();
    const sizes = await Promise.all((await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size));

    expect(sizes.length).toBeGreaterThan(0);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(1_000);
  });

  it('takes few refused deliveries, so that a stranger cannot fill it', async () => {
    await openCaptureFolder(folder, []);
    const capture = captureInto(folder, { refusedDeliveries: 2 });
    for (let count = 0; count < 9; count += 1)
      capture.delivery({ at: 0, rawHeaders: [], raw: null, refusal: 'signature-missing' });
    capture.delivery({ at: 0, rawHeaders: [], raw: Buffer.from('{}'), refusal: null });
    await capture.close();

    expect(await readdir(folder)).toHaveLength(3);
  });

  it('says once that its folder cannot be written, and harms nobody', async () => {
    await writeFile(folder, 'no folder');
    const capture = captureInto(folder);
    capture.exchange(EXCHANGE);
    await capture.close();
    capture.exchange(EXCHANGE);
    await capture.close();

    expect(log).toEqual([expect.stringContaining('"why":"it cannot be written"')]);
  });
});

describe('the folder of a capture', () => {
  it('is made for its own account alone, and closed to others when it is there', async () => {
    const open = join(place, 'open');
    await mkdir(open);
    await chmod(open, 0o755);

    for (const path of [folder, open])
      // oxlint-disable-next-line no-await-in-loop
      expect((await stat(await openCaptureFolder(path, []))).mode & 0o777).toBe(0o700);
  });

  it('is never one in which files are served, by whatever name', async () => {
    const reports = join(place, 'reports');
    await mkdir(reports);
    await symlink(reports, join(place, 'link'));

    for (const path of [reports, join(reports, 'capture'), join(place, 'link', 'capture'), place])
      // oxlint-disable-next-line no-await-in-loop
      await expect(openCaptureFolder(path, [reports])).rejects.toMatchObject({ code: 'configuration-invalid' });
  });
});
