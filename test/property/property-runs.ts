/**
 * How a property is run: `PROPERTY_RUNS=5000` looks longer, `PROPERTY_SEED` repeats a run. A failing property prints its seed, the path to
 * its smallest counterexample and that counterexample.
 */
export function propertyRuns(numRuns: number): { readonly numRuns: number; readonly seed?: number } {
  const { PROPERTY_RUNS: runs, PROPERTY_SEED: seed } = process.env;
  return {
    numRuns: runs === undefined ? numRuns : Number(runs),
    ...(seed === undefined ? {} : { seed: Number(seed) }),
  };
}
