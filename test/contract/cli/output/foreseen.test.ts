import { Client } from '@temporalio/client';
import { describe, expect, inject, it } from 'vitest';
import { foreseen, terminalText, unforeseen } from '../../../../src/cli/output/terminal-text.ts';
import { LoteError } from '../../../../src/domain/errors.ts';
import { lazyTemporal } from '../../../../src/app/temporal/temporal-connection.ts';

describe('an error that ends a command', () => {
  it('is a sentence about the Temporal server where that did not do what it was asked', async () => {
    const connection = lazyTemporal({ address: inject('temporalAddress') });
    const client = new Client({ connection });
    const late = client.withDeadline(Date.now() - 1, () => client.schedule.getHandle('any').describe());
    const error: unknown = await late.catch((thrown: unknown) => thrown);
    await connection.close();

    const known = await foreseen(error);

    expect(known?.code).toBe('temporal-unavailable');
    expect(known?.message).toMatch(/^Asking the Temporal server: .*"4 DEADLINE_EXCEEDED: /u);
  });

  it('is what it says where Lote has foreseen it', async () => {
    const error = new LoteError('usage', 'Reading FILE: there must be one.');

    expect(await foreseen(error)).toBe(error);
  });

  it('is shown with all of its causes where it is unexpected', async () => {
    const error = new TypeError('outer', { cause: new Error('middle', { cause: new RangeError('inner') }) });

    expect(await foreseen(error)).toBeNull();
    expect(unforeseen(error)).toMatch(
      /^Unforeseen: TypeError: outer\n {4}at [^]*\n {2}because: middle\n {2}because: inner$/u,
    );
    expect(unforeseen('a word')).toBe('Unforeseen: a word');
  });

  it('keeps its lines, and nothing in them that a terminal takes for a command', () => {
    expect(terminalText('Reading a\u001B[2Jb.csv:\n  found \u202Enothing')).toBe(
      'Reading a [2Jb.csv:\n  found  nothing',
    );
  });
});
