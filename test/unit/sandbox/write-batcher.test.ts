import { describe, expect, it } from 'vitest';
import { createWriteBatcher } from '../../../src/sandbox/write-batcher.ts';
import type { Change } from '../../../src/sandbox/store/sandbox-store.ts';

function change(id: string): Change {
  const delivery = {
    id,
    applicationId: 'app_1',
    webhookId: 'whk_1',
    invoiceId: 'inv_1',
    body: '',
    forged: false,
    attempts: 0,
    nextAttemptAt: 0,
  };
  return { kind: 'delivery-done', delivery };
}

function idsOf(changes: readonly Change[]): readonly string[] {
  return changes.flatMap((each) => (each.kind === 'delivery-done' ? [each.delivery.id] : []));
}

describe('a batcher of writes', () => {
  it('writes what came together in one transaction, in order', async () => {
    const groups: (readonly string[])[] = [];
    const batcher = createWriteBatcher({ write: async (changes) => void groups.push(idsOf(changes)) });

    await Promise.all(['a', 'b', 'c'].map((id) => batcher.commit([change(id), change(`${id}2`)])));

    expect(groups).toEqual([['a', 'a2', 'b', 'b2', 'c', 'c2']]);
  });

  it('writes what comes during a transaction in the next one, never two at a time', async () => {
    const groups: (readonly string[])[] = [];
    let open = 0;
    const batcher = createWriteBatcher({
      async write(changes) {
        open += 1;
        expect(open).toBe(1);
        groups.push(idsOf(changes));
        if (groups.length === 1) late.push(batcher.commit([change('b')]), batcher.commit([change('c')]));
        await new Promise(setImmediate);
        open -= 1;
      },
    });
    const late: Promise<void>[] = [];

    await batcher.commit([change('a')]);
    await Promise.all(late);

    expect(groups).toEqual([['a'], ['b', 'c']]);
  });

  it('does not resolve before the write', async () => {
    let written = false;
    const batcher = createWriteBatcher({
      async write() {
        await new Promise(setImmediate);
        written = true;
      },
    });

    await batcher.commit([change('a')]);

    expect(written).toBe(true);
  });

  it('tells everyone of a group that failed, and writes the next one', async () => {
    let writes = 0;
    const batcher = createWriteBatcher({
      async write() {
        writes += 1;
        if (writes === 1) throw new Error('disk full');
      },
    });

    const failed = await Promise.allSettled([batcher.commit([change('a')]), batcher.commit([change('b')])]);
    await batcher.commit([change('c')]);

    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(writes).toBe(2);
  });

  it('drains: nothing waits afterwards', async () => {
    const groups: (readonly string[])[] = [];
    const batcher = createWriteBatcher({ write: async (changes) => void groups.push(idsOf(changes)) });
    await batcher.drain();
    void batcher.commit([change('a')]);

    await batcher.drain();

    expect(groups).toEqual([['a']]);
  });
});
