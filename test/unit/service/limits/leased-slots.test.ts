import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createLeasedSlots, SLOTS_TTL_MS } from '../../../../src/service/limits/leased-slots.ts';

/** Time goes on only where a test says so. */
function standingClock(): void {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
}

/** Lets a lease that was asked for come back. */
async function turn(): Promise<void> {
  for (let times = 0; times < 10; times += 1) await Promise.resolve();
}

async function later(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  await turn();
}

describe('slots that are leased from the ledger', () => {
  it('let nobody in before the ledger has given a share, and then as many as it gave', async () => {
    standingClock();
    let grant: (share: number) => void = () => undefined;
    const slots = createLeasedSlots({
      lease: () => new Promise((resolve) => (grant = resolve)),
      release: async () => {},
    });
    const entered: number[] = [];
    for (const guest of [1, 2, 3]) void slots.acquire(undefined).then(() => entered.push(guest));
    await turn();
    expect(entered).toEqual([]);

    grant(2);
    await turn();

    expect(entered).toEqual([1, 2]);
    await slots.close();
  });

  it('grow and shrink with the share, which is asked for every second', async () => {
    standingClock();
    const shares = [1, 3, 0];
    let asked = 0;
    const slots = createLeasedSlots({
      lease: async () => shares[asked++] ?? 0,
      release: async () => {},
    });
    const entered: number[] = [];
    for (const guest of [1, 2, 3, 4]) void slots.acquire(undefined).then(() => entered.push(guest));
    await turn();
    expect(entered).toEqual([1]);

    await later(1_000);
    expect(entered).toEqual([1, 2, 3]);
    await later(1_000);

    expect(asked).toBe(3);
    expect(entered, 'nobody new while the share is nothing').toEqual([1, 2, 3]);
    await slots.close();
  });

  it('say what they may still use: their share, and of a larger one before what has not come back', async () => {
    standingClock();
    const shares = [3, 1, 1, 1];
    const held: number[] = [];
    const slots = createLeasedSlots({
      lease: async (mayUse) => {
        held.push(mayUse);
        return shares.shift() ?? 1;
      },
      release: async () => {},
    });
    const guests = await Promise.all([1, 2, 3].map(() => slots.acquire(undefined)));
    await later(2_000);
    guests[0]?.();
    await later(1_000);

    expect(held, 'asked for the first time, all three, the same after the share fell, one has come back').toEqual([
      0, 3, 3, 2,
    ]);
    await slots.close();
  });

  it('keep their share while the ledger is away for less than it has promised, and then let nobody in', async () => {
    standingClock();
    let away = false;
    const slots = createLeasedSlots({
      lease: async () => {
        if (away) throw new Error('the ledger is away');
        return 2;
      },
      release: async () => {},
    });
    await slots.acquire(undefined);
    await later(60_000);
    away = true;
    await later(SLOTS_TTL_MS - 1_000);
    const second = await slots.acquire(undefined);
    expect(second).not.toBeNull();
    second?.();

    await later(3_000);
    let entered = false;
    void slots.acquire(undefined).then(() => (entered = true));
    await turn();

    expect(entered, 'somebody else may have the share by now').toBe(false);
    away = false;
    await later(1_000);
    expect(entered).toBe(true);
    await slots.close();
  });

  it('claim nothing of a share that ran out while the process stood still, but for what is on the wire', async () => {
    standingClock();
    const held: number[] = [];
    const slots = createLeasedSlots({
      lease: async (mayUse) => {
        held.push(mayUse);
        return 3;
      },
      release: async () => {},
    });
    await slots.acquire(undefined);
    await later(1_000);
    const standing = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 10 * 60_000);
    await later(1_000);
    standing.mockRestore();

    expect(held, 'one request has been on the wire all the time').toEqual([0, 3, 1]);
    await slots.close();
  });

  it('give the share back when nothing was asked for a second, and lease one for the next request', async () => {
    standingClock();
    const said: string[] = [];
    let released: () => void = () => undefined;
    const slots = createLeasedSlots({
      lease: async () => said.push('lease'),
      release: () => {
        said.push('release');
        return new Promise((resolve) => (released = resolve));
      },
    });
    const inUse = await slots.acquire(undefined);
    await later(60_000);
    expect(said, 'a request lasts').not.toContain('release');
    inUse?.();
    await later(1_000);
    expect(said, 'another may come at once').not.toContain('release');
    await later(1_000);
    const afterwards = said.splice(0);
    await later(60_000);
    expect([afterwards.at(-1), said]).toEqual(['release', []]);

    let entered = false;
    void slots.acquire(undefined).then(() => (entered = true));
    await turn();
    expect(said, 'the share that is being given back would take the new one with it').toEqual([]);
    released();
    await turn();

    expect([said, entered]).toEqual([['lease'], true]);
    void slots.close();
    released();
  });

  it('give the share back at the end, once they were used, and ask for none afterwards', async () => {
    standingClock();
    let leased = 0;
    let released = 0;
    const make = () =>
      createLeasedSlots({
        lease: async () => (leased += 1),
        release: async () => {
          released += 1;
        },
      });
    const unused = make();
    await unused.close();
    void unused.acquire(undefined);
    await later(5_000);
    expect([leased, released]).toEqual([0, 0]);

    const used = make();
    await used.acquire(undefined);
    await used.close();
    await later(5_000);

    expect(released).toBe(1);
    expect(leased).toBe(1);
  });

  it('end quietly when the ledger is away at the end', async () => {
    standingClock();
    const slots = createLeasedSlots({ lease: async () => 1, release: () => Promise.reject(new Error('away')) });
    await slots.acquire(undefined);

    await expect(slots.close()).resolves.toBeUndefined();
  });

  it('are taken up by who asks for a free one, too', async () => {
    standingClock();
    const slots = createLeasedSlots({ lease: async () => 1, release: async () => undefined });

    const beforeLease = slots.tryAcquire();
    await later(0);

    expect([beforeLease, typeof slots.tryAcquire(), slots.tryAcquire()]).toEqual([null, 'function', null]);
    await slots.close();
  });
});
