/** Gives back what was taken. */
export type Release = () => void;

export interface Slots {
  acquire(): Promise<Release>;
}

/** At most `count` at a time, first come first served. */
export function createSlots(count: number): Slots {
  let free = count;
  const waiting: (() => void)[] = [];

  function release(): void {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  }

  return {
    async acquire() {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      return release;
    },
  };
}
