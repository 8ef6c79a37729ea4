import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { acquireTemporalBinary } from '../../../../src/app/temporal/temporal-binary.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';

/** A stand-in for `go install`, which takes minutes: it writes GOBIN/temporal and keeps a book of its calls. */
const GO_SCRIPT =
  '#!/bin/sh\necho "$@" >> "$GO_BOOK"\nprintf "#!/bin/sh\\n" > "$GOBIN/temporal"; /bin/chmod +x "$GOBIN/temporal"\n';
const FAILING_GO_SCRIPT = '#!/bin/sh\necho "no route to the module proxy" >&2\nexit 1\n';

async function machine(programs: Readonly<Record<string, string>>) {
  const directory = await temporaryDirectory();
  const bin = join(directory, 'bin');
  await mkdir(bin);
  for (const [name, text] of Object.entries(programs)) await executable(join(bin, name), text);
  const goBook = join(directory, 'book');
  return {
    env: { PATH: bin, XDG_CACHE_HOME: join(directory, 'cache'), GO_BOOK: goBook },
    cached: join(directory, 'cache', 'lote', 'temporal-v1.5.1', 'temporal'),
    book: async () => (await readFile(goBook, 'utf8').catch(() => '')).split('\n').filter((line) => line !== ''),
  };
}

async function executable(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  await chmod(path, 0o755);
}

const silent = (): void => undefined;
const offline = (): Promise<boolean> => Promise.resolve(false);

async function expectNone(env: NodeJS.ProcessEnv, words: RegExp): Promise<void> {
  const message = expect.stringMatching(words) as string;
  const asked = acquireTemporalBinary(silent, env, offline);
  await expect(asked).rejects.toMatchObject({ code: 'temporal-unavailable', message });
}

describe('acquireTemporalBinary', () => {
  it('takes what the SDK can download before it builds, and the one in the user’s cache before it downloads', async () => {
    const { env, cached, book } = await machine({ go: GO_SCRIPT });
    const download = (target: string) => executable(target, '#!/bin/sh\n').then(() => true);

    expect(await acquireTemporalBinary(silent, env, download)).toBe(cached);
    expect(await acquireTemporalBinary(silent, env, offline)).toBe(cached);
    expect(await book()).toEqual([]);
  });

  it('puts one aside that does not run, says so, and gets another', async () => {
    const { env, cached, book } = await machine({ go: GO_SCRIPT });
    await executable(cached, 'damaged');
    await writeFile(cached, Buffer.alloc(100, 0xff));
    const notified: string[] = [];

    expect(await acquireTemporalBinary((line) => void notified.push(line), env, offline)).toBe(cached);
    expect(await book()).toHaveLength(1);
    expect(notified[0]).toContain(`Lote cannot use ${cached}: it is now ${cached}.unusable-`);
  });

  it('says which folder cannot hold it, and what to do', async () => {
    const { env } = await machine({});
    await writeFile(String(env['XDG_CACHE_HOME']), 'a file');

    const words = /cache\/lote\/temporal-.* must be a folder for one \(XDG_CACHE_HOME\), found ENOTDIR/u;
    await expectNone(env, words);
  });

  it('builds the pinned version with Go when offline, says so, and keeps it for the next start', async () => {
    const { env, cached, book } = await machine({ go: GO_SCRIPT });
    const notified: string[] = [];

    const first = await acquireTemporalBinary((line) => notified.push(line), env, offline);
    const second = await acquireTemporalBinary(silent, env, offline);

    expect([first, second]).toEqual([cached, cached]);
    expect(await book()).toEqual([expect.stringContaining('github.com/temporalio/cli/cmd/temporal@v1.5.1')]);
    expect(notified[0]).toContain('Looking for the Temporal server v1.5.1');
    expect(notified[1]).toContain('Building the Temporal server v1.5.1 with Go');
  });

  it('gives the build no secret of Lote', async () => {
    const { env, book } = await machine({
      go: '#!/bin/sh\n/usr/bin/env > "$GO_BOOK"\nprintf "#!/bin/sh\\n" > "$GOBIN/temporal"\n',
    });

    const secrets = { INVOICING_API_KEY: 'sk_live_secret', DATABASE_URL: 'secret' };
    await acquireTemporalBinary(silent, { ...env, ...secrets }, offline);

    expect((await book()).join('\n')).toContain('GOBIN=');
    expect((await book()).join('\n')).not.toMatch(/secret|INVOICING|DATABASE/);
  });

  it('says why the build failed, and leaves nothing behind', async () => {
    const { env, cached } = await machine({ go: FAILING_GO_SCRIPT });

    await expectNone(env, /no route to the module proxy/u);
    expect(await readdir(dirname(cached))).toEqual([]);
  });

  it('gives one clear error when there is no way to get one', async () => {
    const { env } = await machine({});

    await expectNone(env, /Install the Temporal CLI, or Go, or set TEMPORAL_ADDRESS/u);
  });
});
