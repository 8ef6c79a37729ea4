import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { startedParts } from '../../../../src/app/start/stop-in-reverse.ts';

function parts(patienceMs?: number) {
  const stopped: string[] = [];
  const warned: object[] = [];
  const log = { warn: (message: string, fields?: Record<string, unknown>) => void warned.push({ message, fields }) };
  return { stopped, warned, started: startedParts(log, patienceMs) };
}

describe('parts that were started', () => {
  it('are all stopped when some of them reject or throw, and these are named', async () => {
    const { stopped, warned, started } = parts();
    started.add('lock', () => Promise.resolve(stopped.push('lock')));
    started.add('worker', () => Promise.reject(new Error('still busy')));
    started.add('console', () => {
      throw new Error('still busy');
    });

    await started.stop();

    expect(stopped).toEqual(['lock']);
    const message = 'a part did not stop cleanly';
    expect(warned).toMatchObject(['console', 'worker'].map((part) => ({ message, fields: { part } })));
  });

  it('are all stopped when one of them never ends, and that one is named', async () => {
    const { stopped, warned, started } = parts(20);
    started.add('ledger', () => Promise.resolve(stopped.push('ledger')));
    started.add('log of misfits', () => new Promise(() => undefined));

    await started.stop();

    expect(stopped).toEqual(['ledger']);
    const fields = { part: 'log of misfits', waitedMs: 20 };
    expect(warned).toEqual([{ message: 'a part did not stop in time', fields }]);
  });

  it.each(['add', 'addToTheEnd'] as const)(
    'are stopped in the reverse order, each when the one before has stopped: %s',
    async (add) => {
      const { stopped, warned, started } = parts(add === 'add' ? undefined : 1);
      for (const name of ['lock', 'ledger', 'worker'])
        started[add](name, async () => {
          stopped.push(`${name} stops`);
          await sleep(20);
          stopped.push(`${name} has stopped`);
        });

      await started.stop();

      expect(stopped).toEqual(['worker', 'ledger', 'lock'].flatMap((name) => [`${name} stops`, `${name} has stopped`]));
      expect(warned).toEqual([]);
    },
  );
});
