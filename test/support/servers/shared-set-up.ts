/** A set-up that all projects of a run share: each project has its own copy of this module, in the same process. */
interface SharedSetUp {
  users: number;
  readonly started: Promise<{ readonly value: unknown; stop(): Promise<void> }>;
}

const RUN = globalThis as { loteSetUps?: Map<string, SharedSetUp> };

/**
 * Starts a set-up once for all projects of a run, and stops it when the last project has ended.
 * @returns the value of the set-up, and the function that the project's teardown must call.
 */
export async function shareSetUp<Value>(
  name: string,
  start: () => Promise<{ readonly value: Value; stop(): Promise<void> }>,
): Promise<{ readonly value: Value; release(): Promise<void> }> {
  const setUps = (RUN.loteSetUps ??= new Map());
  const setUp: SharedSetUp = setUps.get(name) ?? { users: 0, started: start() };
  setUps.set(name, setUp);
  setUp.users += 1;
  const { value, stop } = await setUp.started;
  return {
    value: value as Value,
    async release() {
      setUp.users -= 1;
      if (setUp.users > 0) return;
      setUps.delete(name);
      await stop();
    },
  };
}
