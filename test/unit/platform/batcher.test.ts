import { describe, expect, it } from 'vitest';
import { Batcher } from '../../../src/platform/batcher.ts';

interface Item {
  readonly key: number;
  readonly text: string;
}

type Write = (items: readonly Item[]) => Promise<ReadonlyMap<number, string>>;

/** A batcher over a writer that keeps what it was given. */
function recording(write: Write = echo) {
  const written: (readonly Item[])[] = [];
  const batcher = new Batcher<Item, string>({
    keyOf: (item) => item.key,
    async write(items) {
      written.push(items);
      return write(items);
    },
  });
  return {
    submit: (...items: Item[]) => batcher.submit(items),
    /** Calls with so much patience. */
    patient: (patienceMs: number, ...items: Item[]) => batcher.submit(items, { patienceMs }),
    /** Calls after which none is to be expected. */
    last: (...items: Item[]) => batcher.submit(items, { isLast: true }),
    written,
  };
}

async function echo(items: readonly Item[]): Promise<ReadonlyMap<number, string>> {
  return new Map(items.map((item) => [item.key, `wrote ${item.text}`]));
}

function item(key: number, text = String(key)): Item {
  return { key, text };
}

describe('a batcher', () => {
  it('merges calls in flight into one write, and gives each its own results', async () => {
    const { submit, written } = recording();

    const results = await Promise.all([submit(item(1)), submit(item(2), item(3)), submit(item(4))]);

    expect(written).toEqual([[item(1), item(2), item(3), item(4)]]);
    expect(results).toEqual([['wrote 1'], ['wrote 2', 'wrote 3'], ['wrote 4']]);
  });

  it('lets calls with patience wait for one that has none, and writes all of them', async () => {
    const { submit, patient, written } = recording();
    const waiting = [patient(600_000, item(1)), patient(600_000, item(2))];
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(written).toEqual([]);

    await Promise.all([...waiting, submit(item(3))]);

    expect(written).toEqual([[item(1), item(2), item(3)]]);
  });

  it('lets calls with patience wait for so many, and no longer', async () => {
    const { patient, written } = recording();
    const first = patient(600_000, item(1));
    await new Promise((resolve) => setTimeout(resolve, 50));

    await Promise.all([first, ...Array.from({ length: 15 }, (_, at) => patient(600_000, item(at + 2)))]);

    expect(written.map((items) => items.length)).toEqual([16]);
  });

  it('writes what waits when the patience of one call is over, and goes on with the next', async () => {
    const { patient, written } = recording();

    await Promise.all([patient(600_000, item(1)), patient(20, item(2))]);
    await patient(20, item(3));

    expect(written).toEqual([[item(1), item(2)], [item(3)]]);
  });

  it('writes what waits when the last call comes', async () => {
    const { patient, last, written } = recording();
    const waiting = [patient(600_000, item(1)), patient(600_000, item(2))];

    const done = last(item(3));

    expect(written).toEqual([[item(1), item(2), item(3)]]);
    await Promise.all([...waiting, done]);
  });

  it('writes nothing for a call without items', async () => {
    const { submit, written } = recording();

    expect(await submit()).toEqual([]);
    expect(written).toEqual([]);
  });

  it('splits what waits into writes of at most 500 items, a call of more than that alone', async () => {
    const { submit, written } = recording();

    await Promise.all([
      ...Array.from({ length: 1_100 }, (_, index) => submit(item(index))),
      submit(...Array.from({ length: 600 }, (_, index) => item(2_000 + index))),
    ]);

    expect(written.map((items) => items.length)).toEqual([500, 500, 100, 600]);
  });

  it('does not wait for company when a group is full', async () => {
    const { submit, written } = recording();
    const many = Array.from({ length: 600 }, (_, index) => item(index));

    const done = submit(...many);

    expect(written).toHaveLength(1);
    expect(await done).toHaveLength(600);
  });

  it('goes on after a failure', async () => {
    let fails = true;
    const { submit } = recording(async (items) => {
      if (fails) throw new Error('once');
      return echo(items);
    });
    await expect(submit(item(1))).rejects.toThrow('once');
    fails = false;

    expect(await submit(item(1))).toEqual(['wrote 1']);
  });
});
