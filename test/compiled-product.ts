import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin, TestProjectInlineConfiguration } from 'vitest/config';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
/** Where the product is compiled to for tests, below the checkout. */
export const BUILD = '.cache/build';
/** The mode of Vitest in which tests import it: `vitest run --mode compiled`. */
export const COMPILED = 'compiled';
const COMPILES = 'test/support/servers/global-build.ts';
const SOURCE = /^(?:src|workflows|activities)\/.*\.ts$/u;

/**
 * The same tests on the compiled product: what is built is what is tested, and Node loads it by itself, which computes less than to let Vite load each
 * source.
 */
export function onCompiledProduct(project: TestProjectInlineConfiguration): TestProjectInlineConfiguration {
  const { globalSetup = [], ...test } = project.test ?? {};
  return {
    ...project,
    plugins: [compiledProduct()],
    test: {
      ...test,
      // Whatever the set-up of the servers imports must be compiled before.
      globalSetup: [COMPILES, globalSetup].flat(),
      server: { deps: { external: [new RegExp(`/${BUILD}/`, 'u')] } },
    },
  };
}

/** Finds what was compiled from a source that a test names. */
function compiledProduct(): Plugin {
  return {
    name: 'compiled-product',
    enforce: 'pre',
    resolveId(source, importer) {
      if (!source.startsWith('.') || importer === undefined) return null;
      const path = relative(ROOT, resolve(dirname(importer), source));
      return SOURCE.test(path) ? join(ROOT, BUILD, path.replace(/\.ts$/u, '.js')) : null;
    },
  };
}
