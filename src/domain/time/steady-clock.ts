/** Milliseconds since some moment. */
type Clock = () => number;

/** Milliseconds that go on while the process is stopped and while the machine sleeps, and never back, whatever is done to the clock. */
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
 * Epoch milliseconds for the question how long ago something was, at least: a clock that is set back while the process runs makes nothing younger. It is
 * for judging only. What is written down has the time of the clock.
 */
export function latestClock(wallClock: Clock = Date.now, monotonic?: Clock): Clock {
  const began = wallClock();
  const elapsed = steadyClock(wallClock, monotonic);
  // The ledger takes whole milliseconds.
  return () => Math.max(wallClock(), Math.floor(began + elapsed()));
}
