import { simulatedEngine, type Engine } from '../../../src/sandbox/engine.ts';

export interface GatedEngine {
  readonly engine: Engine;
  open(): void;
}

/** The simulated engine, which says nothing of any invoice until the test lets it: a batch then runs for as long as a test needs. */
export function gatedEngine(): GatedEngine {
  return gated(simulatedEngine({ settleMs: 0 }));
}

/** An engine of the test's own behind the same gate. */
export function gated(engine: Engine): GatedEngine {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    engine: {
      async process(invoice) {
        await opened;
        return engine.process(invoice);
      },
    },
    open: () => open(),
  };
}
