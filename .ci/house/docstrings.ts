import { dirname, join } from 'node:path';
import ts from 'typescript';
import type { Counts } from './ratchet.ts';
import type { Source } from './sources.ts';

/** Exports that another file of the product imports and that have no docstring, as `file name`. */
export function undocumentedExports(sources: readonly Source[]): readonly string[] {
  const imported = new Set(sources.flatMap(importsOf));
  return sources.flatMap((source) =>
    [...declarationsOf(source)]
      .filter(([name, documented]) => !documented && imported.has(`${source.fileName} ${name}`))
      .map(([name]) => `${source.fileName} ${name}`),
  );
}

/** Counted by folder: `src/<folder>`, `workflows`, `activities`. */
export function byFolder(exports: readonly string[]): Counts {
  const counts: Record<string, number> = {};
  for (const one of exports) {
    const folder = folderOf(one);
    counts[folder] = (counts[folder] ?? 0) + 1;
  }
  return counts;
}

/** The folder under which an export is counted. */
export function folderOf(file: string): string {
  const [top = '', second = ''] = file.split('/');
  return top === 'src' ? `${top}/${second.split(' ')[0] ?? ''}` : top;
}

/** Exported names of a file; an overload with a docstring documents the others. */
function declarationsOf(source: Source): ReadonlyMap<string, boolean> {
  const found = new Map<string, boolean>();
  for (const statement of source.statements) {
    if (!isExported(statement)) continue;
    const documented = ts.getJSDocCommentsAndTags(statement).length > 0;
    for (const name of namesOf(statement)) found.set(name, documented || found.get(name) === true);
  }
  return found;
}

function isExported(statement: ts.Statement): boolean {
  const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
  return modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
}

function namesOf(statement: ts.Statement): readonly string[] {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  const named =
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement);
  return named && statement.name !== undefined ? [statement.name.text] : [];
}

/** What a file imports from other files of the product, or exports again, as `file name`. */
function importsOf(source: Source): readonly string[] {
  return source.statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return [];
    const { moduleSpecifier: from } = statement;
    if (from === undefined || !ts.isStringLiteral(from) || !from.text.startsWith('.')) return [];
    const file = join(dirname(source.fileName), from.text);
    const clause = ts.isImportDeclaration(statement) ? statement.importClause?.namedBindings : statement.exportClause;
    if (clause === undefined || !(ts.isNamedImports(clause) || ts.isNamedExports(clause))) return [];
    return clause.elements.map(({ name, propertyName }) => `${file} ${(propertyName ?? name).text}`);
  });
}
