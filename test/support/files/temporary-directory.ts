import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, onTestFinished } from 'vitest';

/** Makes a directory that is removed after the test. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'lote-test-')));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** Makes a directory for the tests of a file; call it outside of a test. The result returns the path inside the tests. */
export function sharedDirectory(): () => string {
  let directory = '';
  beforeAll(async () => {
    directory = await realpath(await mkdtemp(join(tmpdir(), 'lote-test-')));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));
  return () => directory;
}
