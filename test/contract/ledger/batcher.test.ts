import { describe, expect, it } from 'vitest';
import { LoteError } from '../../../src/domain/errors.ts';
import { createBatcher } from '../../../src/ledger/database/batcher.ts';

interface Item {
  readonly key: number;
  readonly text: string;
}

type Write = (items: readonly Item[]) => Promise<ReadonlyMap<number, string>>;

/** A batcher over a writer that keeps what it was given. */
function recording(write: Write = echo): {
  readonly submit: (...items: Item[]) => Promise<readonly string[]>;
  /** Calls with so much patience. */
  readonly patient: (patienceMs: number, ...items: Item[]) => Promise<readonly string[]>;
  /** Calls after which none is to be expected. */
  readonly last: (...items: Item[]) => Promise<readonly string[]>;
  readonly written: (readonly Item[])[];
} {
  const written: (readonly Item[])[] = [];
  const submit = createBatcher<Item, string>({
    keyOf: (item) => item.key,
    async write(items) {
      written.push(items);
      return write(items);
    },
  });
  return {
    submit: (...items) => submit(items),
    patient: (patienceMs, ...items) => submit(items, { patienceMs }),
    last: (...items) => submit(items, { isLast: true }),
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

  it('does not wait for company when a group is full', async () => {
    const { submit, written } = recording();
    const many = Array.from({ length: 600 }, (_, index) => item(index));

    const done = submit(...many);

    expect(written).toHaveLength(1);
    expect(await done).toHaveLength(600);
  });

  it('does not acknowledge the call that fails, and acknowledges the others', async () => {
    const { submit, written } = recording(async (items) => {
      if (items.some((one) => one.text === 'bad')) throw new Error('refused');
      return echo(items);
    });

    const results = await Promise.allSettled([submit(item(1)), submit(item(2, 'bad'), item(3)), submit(item(4))]);

    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(written).toHaveLength(4);
  });

  it('fails all at once when the ledger cannot be reached', async () => {
    const { submit, written } = recording(async () => {
      throw new LoteError('ledger-unavailable', 'gone');
    });

    const results = await Promise.allSettled([submit(item(1)), submit(item(2))]);

    expect(results.map((result) => result.status)).toEqual(['rejected', 'rejected']);
    expect(written).toHaveLength(1);
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

  it('never puts one key twice into a write, and keeps the order of calls of one key', async () => {
    const { submit, written } = recording();

    await Promise.all([
      submit(item(1, 'a')),
      submit(item(1, 'b'), item(2, 'c')),
      submit(item(2, 'd')),
      submit(item(3, 'e')),
    ]);

    expect(written.map((items) => items.map((one) => one.text))).toEqual([['a', 'e'], ['b', 'c'], ['d']]);
  });

  it('writes a key that stands twice in one call one after the other', async () => {
    const { submit, written } = recording();

    const results = await submit(item(1, 'a'), item(2, 'b'), item(1, 'c'));

    expect(written.map((items) => items.map((one) => one.text))).toEqual([['a', 'b'], ['c']]);
    expect(results).toEqual(['wrote a', 'wrote b', 'wrote c']);
  });

  it('does not start a key again while it is being written', async () => {
    let release: (() => void) | null = null;
    const { submit, written } = recording(async (items) => {
      if (items[0]?.text === 'slow') await new Promise<void>((resolve) => (release = resolve));
      return echo(items);
    });
    const slow = submit(item(1, 'slow'));
    while (written.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const second = submit(item(1, 'second'));
    const other = submit(item(2, 'other'));

    await other;
    expect(written.map((items) => items.map((one) => one.text))).toEqual([['slow'], ['other']]);
    (release as (() => void) | null)?.();
    await Promise.all([slow, second]);

    expect(written.at(-1)).toEqual([item(1, 'second')]);
  });
});
