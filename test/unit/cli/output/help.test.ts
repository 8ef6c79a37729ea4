import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { completionTree } from '../../../../src/cli/completion/completion-tree.ts';
import { HELP } from '../../../../src/cli/output/help.ts';
import { program } from '../../../../src/cli/program.ts';

const tree = completionTree(program).filter(({ path }) => path.length > 0);

function helpOf(path: readonly string[]): string {
  let command: Command | undefined = program;
  for (const word of path) command = command?.commands.find((child) => child.name() === word);
  let text = '';
  command?.configureOutput({ writeOut: (more) => (text += more) });
  command?.outputHelp();
  return text;
}

describe('the help', () => {
  it('has no examples of commands that do not exist', () => {
    expect(Object.keys(HELP).sort()).toEqual(tree.map(({ path }) => path.join(' ')).sort());
  });

  it('lists every command in a group', () => {
    const text = helpOf([]);

    for (const { path } of tree.filter((command) => command.path.length === 1)) expect(text).toContain(`  ${path[0]}`);
    for (const group of ['Every day:', 'After a batch:', 'Keeping Lote up:', 'Trying things out:'])
      expect(text).toContain(group);
  });

  it.each(tree.map((command) => [command.path.join(' '), command] as const))(
    'of %s shows examples that its options and commands take',
    (name, command) => {
      const text = helpOf(command.path);
      const examples = HELP[name]?.examples ?? [];

      expect(examples.length).toBeGreaterThan(0);
      for (const example of examples) {
        expect(text).toContain(`  ${example}\n`);
        // Settings may stand before it.
        const words = example.replace(/^(?:[A-Z_]+=\S+ )*lote /u, '').split(' ');
        expect(words.join(' ').startsWith(name), example).toBe(true);
        const called = tree.findLast(({ path }) => words.join(' ').startsWith(path.join(' ')));
        const known = called?.options.map((option) => option.name);
        for (const flag of words.filter((word) => word.startsWith('--'))) expect(known, example).toContain(flag);
      }
    },
  );
});
