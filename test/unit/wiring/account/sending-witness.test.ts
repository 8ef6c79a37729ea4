import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { gapSince, witnessFolder } from '../../../../src/wiring/account/sending-witness.ts';

const SCOPE = '0123456789abcdef';
const HOUR_MS = 3_600_000;
const NOW = Date.UTC(2027, 0, 15, 2);

function witness(number: number, at: number) {
  return { ledgerId: 'lgr_a', number, at };
}

describe('the time since which a ledger may lack invoices', () => {
  const kept = [witness(1, NOW), witness(40, NOW + HOUR_MS), witness(97, NOW + 90_000_000)];

  it.each([
    ['none: it knows the highest mark', 97, null],
    ['none: it knows more than stands outside', 98, null],
    ['the first mark that it lacks, where that one is kept', 0, NOW],
    ['the one before, where it is not: those between were replaced', 50, NOW + HOUR_MS],
  ])('is %s', (_, mark, since) => {
    expect(gapSince(kept, mark)).toBe(since);
  });

  it('is not known where nothing is kept of that time', () => {
    expect(gapSince([witness(97, NOW)], 12)).toBe(0);
  });
});

describe('the witness files', () => {
  async function reports(): Promise<string> {
    const directory = await mkdtemp(join(tmpdir(), 'lote-witness-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    return directory;
  }

  it('keep the newest mark and one of each hour, for 90 days', async () => {
    const directory = await reports();
    const folder = witnessFolder(directory, SCOPE);
    const minute = HOUR_MS / 60;
    for (const [number, after] of [0, 5, 10, 70, 75, 80].entries())
      await folder.write(witness(number + 1, NOW + after * minute));

    expect((await folder.read()).map(({ number }) => number).toSorted((a, b) => a - b)).toEqual([1, 4, 6]);

    await folder.write(witness(7, NOW + 100 * 24 * HOUR_MS));
    expect((await folder.read()).map(({ number }) => number)).toEqual([7]);
  });

  it('keep the higher of two marks that come in the wrong order', async () => {
    const folder = witnessFolder(await reports(), SCOPE);
    await folder.write(witness(1, NOW));
    await folder.write(witness(3, NOW + 2));
    await folder.write(witness(2, NOW + 1));

    expect((await folder.read()).map(({ number }) => number).toSorted((a, b) => a - b)).toEqual([1, 3]);
  });

  it('are those of one account, and nothing else that lies there', async () => {
    const directory = await reports();
    const folder = witnessFolder(directory, SCOPE);
    await folder.write(witness(1, NOW));
    await witnessFolder(directory, 'f'.repeat(16)).write(witness(9, NOW));
    await writeFile(join(directory, '.lote-sent', 'notes.txt'), '');

    expect(await folder.read()).toEqual([witness(1, NOW)]);
    expect(await readdir(join(directory, '.lote-sent'))).toHaveLength(3);
  });
});
