/**
 * Runs `work` for each item, at most `atOnce` at a time. The first error stops the start of further work, and is thrown when all begun work has ended: what
 * is on its way comes to its own end before the caller begins anew.
 */
export async function eachOf<T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  const take = (): { readonly item: T } | null => {
    const { done, value } = queue.next();
    return done === true ? null : { item: value };
  };
  await eachTaken(take, Math.min(atOnce, items.length), ({ item }) => work(item));
}

/** The same for what `take` gives until it gives null. Between two items a lane awaits nothing that is no promise. */
export async function eachTaken<T extends object>(
  take: () => T | null | Promise<T | null>,
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const errors: unknown[] = [];
  const lane = async (): Promise<void> => {
    try {
      for (;;) {
        const taken = errors.length > 0 ? null : take();
        const item = taken instanceof Promise ? await taken : taken;
        // Another lane may have failed while this item was made.
        if (item === null || errors.length > 0) return;
        await work(item);
      }
    } catch (error) {
      errors.push(error);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  if (errors.length > 0) throw errors[0];
}

/** The same for what a generator makes, which ends with the first error. */
export async function eachOfStream<T>(
  items: AsyncGenerator<T>,
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const take = async (): Promise<{ readonly item: T } | null> => {
    const next = await items.next();
    return next.done === true ? null : { item: next.value };
  };
  try {
    await eachTaken(take, atOnce, ({ item }) => work(item));
  } finally {
    await items.return(undefined);
  }
}
