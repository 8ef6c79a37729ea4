import { simulatedEngine, type Engine } from '../../../src/sandbox/engine.ts';

export interface GatedEngine {
  readonly engine: Engine;
  /** Lets it speak of so many invoices more, the oldest first; left out: of all. */
  open(invoices?: number): void;
}

/** The simulated engine, which says nothing of any invoice until the test lets it: a batch then runs for as long as a test needs. */
export function gatedEngine(): GatedEngine {
  return gated(simulatedEngine({ settleMs: 0 }));
}

/** An engine of the test's own behind the same gate. */
export function gated(engine: Engine): GatedEngine {
  let free = 0;
  const waiting: (() => void)[] = [];
  function letGo(): void {
    for (; free > 0 && waiting.length > 0; free -= 1) waiting.shift()?.();
  }
  return {
    engine: {
      async process(invoice) {
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          letGo();
        });
        return engine.process(invoice);
      },
    },
    open(invoices = Infinity) {
      free += invoices;
      letGo();
    },
  };
}
