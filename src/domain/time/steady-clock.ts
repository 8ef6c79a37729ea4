/** Returns milliseconds since an arbitrary moment. */
type Clock = () => number;

/** Clock in milliseconds that goes on while the process stops or the machine sleeps, and never goes back. */
export function steadyClock(wallClock: Clock = Date.now, monotonic: Clock = () => performance.now()): Clock {
  let elapsed = 0;
  let wall = wallClock();
  let steady = monotonic();
  return () => {
    const [wallNow, steadyNow] = [wallClock(), monotonic()];
    elapsed += Math.max(wallNow - wall, steadyNow - steady, 0);
    wall = wallNow;
    steady = steadyNow;
    return elapsed;
  };
}

/**
 * Returns a clock in epoch milliseconds for judging the age of something: setting the system clock back while the
 * process runs makes nothing younger. Stored times come from the system clock instead.
 */
export function latestClock(wallClock: Clock = Date.now, monotonic?: Clock): Clock {
  const began = wallClock();
  const elapsed = steadyClock(wallClock, monotonic);
  // The ledger stores whole milliseconds.
  return () => Math.max(wallClock(), Math.floor(began + elapsed()));
}
