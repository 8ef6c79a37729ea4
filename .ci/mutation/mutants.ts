import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Position {
  readonly line: number;
  readonly column: number;
}

/** One change of the product; lines count from 0. */
export interface Mutant {
  readonly id: string;
  readonly fileName: string;
  readonly location: { readonly start: Position; readonly end: Position };
  readonly mutatorName: string;
  readonly replacement: string;
}

/** Files with all their mutants in them, each behind a switch. */
export interface Instrumented {
  readonly files: readonly { readonly name: string; readonly content: string }[];
  readonly mutants: readonly Mutant[];
}

/** What is used of Stryker's instrumenter, which is installed apart from the product. */
interface InstrumenterModule {
  readonly Instrumenter: new (log: object) => {
    instrument(
      files: readonly { readonly name: string; readonly mutate: true; readonly content: string }[],
      options: object,
    ): Promise<Instrumented>;
  };
}

const MODULE = new URL('node_modules/@stryker-mutator/instrumenter/dist/src/index.js', import.meta.url);

/**
 * Instruments files of the product, or all of folders; `targets` are paths from the checkout.
 * @throws Error when the instrumenter is not installed
 */
export async function instrument(root: string, targets: readonly string[]): Promise<Instrumented> {
  if (!existsSync(MODULE)) throw new Error('Stryker is not installed. Run: npm ci --prefix .ci/mutation');
  const { Instrumenter } = (await import(MODULE.href)) as InstrumenterModule;
  const log = { debug: () => undefined, info: () => undefined, isDebugEnabled: () => false };
  const files = [...new Set(targets.flatMap((target) => sourcesOf(root, target)))].map((name) => ({
    ...{ name, mutate: true as const },
    content: readFileSync(join(root, name), 'utf8'),
  }));
  return await new Instrumenter(log).instrument(files, { plugins: null, excludedMutations: [], ignorers: [] });
}

function sourcesOf(root: string, target: string): readonly string[] {
  if (target.endsWith('.ts')) return [target];
  return readdirSync(join(root, target), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${target}/${name}`)
    .toSorted();
}
