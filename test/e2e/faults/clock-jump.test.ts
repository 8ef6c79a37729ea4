import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, describe, inject, it } from 'vitest';
import { testFleet } from '../../support/lote/fleet.ts';

const INVOICES = 20;
/** Moves the clock of a process by what a file says, in milliseconds. */
const MOVABLE = `import { readFileSync } from 'node:fs';
const { now } = Date;
Date.now = () => now() + Number(readFileSync(new URL('./offset', import.meta.url), 'utf8'));`;

describe.skipIf(inject('postgresUrl') === null)('a worker whose clock jumps while it runs', () => {
  it.each([
    ['an hour ahead', 3_600_000, 'ahead'],
    ['an hour back', -3_600_000, 'behind'],
  ])('%s sends nothing by it, says so, and goes on when it is set right', async (_, offset, where) => {
    const fleet = await testFleet();
    const clock = join(fleet.place.directory, 'offset');
    const preload = join(fleet.place.directory, 'clock.mjs');
    const file = await fleet.file('night.csv', { invoices: INVOICES });
    await Promise.all([writeFile(clock, '0'), writeFile(preload, MOVABLE)]);
    const worker = await fleet.up('worker', { NODE_OPTIONS: `--import=${pathToFileURL(preload).href}` });
    await writeFile(clock, String(offset));

    const run = fleet.run('run', file, '--json');
    await worker.said(`s ${where}. Nothing was sent or removed. Set both (NTP)`);
    expect(await fleet.database.rows('SELECT 1 FROM invoice')).toEqual([]);
    await writeFile(clock, '0');

    const { code, stderr } = await run;
    expect(code, stderr).toBe(0);
    fleet.expectIssued(INVOICES);
  });
});
