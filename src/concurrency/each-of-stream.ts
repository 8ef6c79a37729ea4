/**
 * Runs `work` for each item that a generator makes, at most `atOnce` at a time. Ends when all begun work has ended; an error ends the generator, starts
 * no further work, and is thrown.
 */
export async function eachOfStream<T>(
  items: AsyncGenerator<T>,
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  // All lanes take from one generator, which hands each item out once.
  let failed = false;
  const lane = async (): Promise<void> => {
    for await (const item of items) {
      // Another lane failed while the generator made this item.
      if (failed) return;
      try {
        await work(item);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  for (const end of await Promise.allSettled(Array.from({ length: atOnce }, lane)))
    if (end.status === 'rejected') throw end.reason;
}
