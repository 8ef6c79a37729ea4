import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { PRODUCT } from './limits.ts';

/** A parsed file of the product; its name is the path from the checkout. */
export type Source = ts.SourceFile;

/** All sources of the product, parsed without types. */
export function productSources(root: string): readonly Source[] {
  return PRODUCT.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
      .map((name) => parsed(`${folder}/${name}`, readFileSync(join(root, folder, name), 'utf8'))),
  );
}

export function parsed(path: string, text: string): Source {
  return ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
}
