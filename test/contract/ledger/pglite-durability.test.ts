import { fsyncSync, readlinkSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { expect, it, onTestFinished } from 'vitest';
import { DURABLE_START, DurableFiles } from '../../../src/database/durable-files.ts';

const COMMITS = 20;

/** What went to the disk, by the names of the real files. Linux tells which file a descriptor is. */
it.skipIf(process.platform !== 'linux')(
  'the embedded ledger brings each commit to the disk before it is acknowledged, and a checkpoint everything else',
  async () => {
    const directory = await mkdtemp(join(tmpdir(), 'lote-durable-'));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    const synced: string[] = [];
    const files = new DurableFiles(directory, (descriptor) => {
      synced.push(readlinkSync(`/proc/self/fd/${descriptor}`).slice(directory.length + 1));
      fsyncSync(descriptor);
    });
    const database = await PGlite.create({ fs: files, startParams: [...DURABLE_START] });
    await database.exec('CREATE TABLE paper (line int)');

    synced.length = 0;
    for (let line = 1; line <= COMMITS; line += 1) {
      await database.query('INSERT INTO paper VALUES ($1)', [line]);
      expect(synced.filter((name) => name.startsWith('pg_wal/'))).toHaveLength(line);
    }
    synced.length = 0;
    await database.exec('CHECKPOINT');
    await database.close();

    expect(synced.some((name) => name.startsWith('base/'))).toBe(true);
    // The control file says where recovery starts: it must not be there before what it speaks of.
    expect(synced.lastIndexOf('global/pg_control')).toBeGreaterThan(
      synced.findIndex((name) => name.startsWith('base/')),
    );
    const again = await PGlite.create({ fs: new DurableFiles(directory), startParams: [...DURABLE_START] });
    const { rows } = await again.query('SELECT count(*)::int AS lines FROM paper');
    await again.close();
    expect(rows).toEqual([{ lines: COMMITS }]);
  },
);
