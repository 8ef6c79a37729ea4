import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { program } from '../../../../src/cli/program.ts';
import { commandLine } from '../../../../src/domain/text/command-line.ts';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

/** Commands that take `--application` and do the right thing without it. */
const FOR_ALL_TOO = new Set(['status', 'profile check', 'profile replay']);

/** Files that name such a command without telling a reader of several applications to type it, and why. */
const NO_ADVICE: Readonly<Record<string, string>> = {
  'src/cli/output/help.ts': 'examples, of an installation with one application',
  'src/cli/commands/operate/retry.ts': '`lote retry` as the reason in the audit',
  'src/ingest/profile/propose-profile.ts': 'says which command has made the proposal',
  'src/wiring/console/keep-upload.ts': 'the console takes files only where there is one application',
  'src/wiring/console/limited-checks.ts': 'the console takes files only where there is one application',
  'src/console/texts/en/texts.ts': 'the page puts the application behind it (commandEnd)',
  'src/console/texts/pt/texts.ts': 'the page puts the application behind it (commandEnd)',
  'src/console/texts/es/texts.ts': 'the page puts the application behind it (commandEnd)',
  'src/texts/nights/en.ts': 'the page puts the application behind it (commandEnd)',
  'src/texts/nights/pt.ts': 'the page puts the application behind it (commandEnd)',
  'src/texts/nights/es.ts': 'the page puts the application behind it (commandEnd)',
};

/** Names of the commands that work for one application: `retry`, `nightly on`. */
function commandsOfOne(command: Command, before = ''): readonly string[] {
  return command.commands.flatMap((sub) => {
    const name = `${before}${sub.name()}`;
    const own = sub.options.some(({ long }) => long === '--application') && !FOR_ALL_TOO.has(name) ? [name] : [];
    return [...own, ...commandsOfOne(sub, `${name} `)];
  });
}

function productFiles(): readonly string[] {
  return ['src', 'workflows', 'activities'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(folder, name)),
  );
}

/** Texts of a file that match, without its comments; of a template each part between its holes. */
function textsIn(file: string, pattern: RegExp): readonly string[] {
  const source = readFileSync(join(ROOT, file), 'utf8');
  // To parse every file takes seconds.
  if (!pattern.test(source)) return [];
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node))
      if (pattern.test(node.text)) texts.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, source, ts.ScriptTarget.Latest));
  return texts;
}

describe('a command as its reader can type it', () => {
  it('names the application where there are several, and only there', () => {
    expect(commandLine({ application: 'anna', isOneOfSeveral: true }, 'retry BATCH --state held')).toBe(
      'lote retry BATCH --state held --application anna',
    );
    expect(commandLine({ application: 'default', isOneOfSeveral: false }, 'reconcile')).toBe('lote reconcile');
  });

  it('is spelled by that function wherever the product tells somebody to use one that works for one application', () => {
    const names = commandsOfOne(program);
    expect(names).toEqual(expect.arrayContaining(['run', 'retry', 'confirm-total', 'confirm-service', 'nightly on']));
    const spelled = new RegExp(`\\blote (?:${names.join('|')})\\b`, 'u');

    const found = productFiles().flatMap((file) => {
      return NO_ADVICE[file] === undefined ? textsIn(file, spelled).map((text) => `${file}: ${text}`) : [];
    });

    expect(found).toEqual([]);
  });

  it('has no exception that is not needed any more', () => {
    const spelled = new RegExp(`\\blote (?:${commandsOfOne(program).join('|')})\\b`, 'u');

    const needless = Object.keys(NO_ADVICE).filter((file) => textsIn(file, spelled).length === 0);

    expect(needless).toEqual([]);
  });
});
